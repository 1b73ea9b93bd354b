//! The resource `menu` of `decision`: options and settings are collected here, setter by setter.

use openprogram_core::Json;
use openprogram_core::content::MediaKind;
use openprogram_core::decision::{
    MENU_OPTIONS_MAX, MinConfidence, OptionGroup, OptionKind, OptionSpec, parse_schema,
};
use wasmtime::component::Resource;

use super::functions::not_json;
use crate::bindings::openprogram::agentic::decision as wire;
use crate::convert::parse_json;
use crate::handles::{Held, MenuHandle, RuntimeHandle, invalid};
use crate::state::CallState;

/// The most times a model is asked again; from the contract.
const RETRIES_MAX: u32 = 10;

impl CallState {
    /// A menu that is being collected, and what all of them may hold.
    fn collecting(
        &mut self,
        menu: &Resource<MenuHandle>,
    ) -> wasmtime::Result<(&mut MenuHandle, Held<'_>)> {
        let held = Held {
            limits: &self.limits,
            bytes: &mut self.menu_bytes,
        };
        Ok((self.table.get_mut(menu)?, held))
    }

    /// A menu that is being collected, and what it may show beside the turns that are being prepared.
    fn showing(
        &mut self,
        menu: &Resource<MenuHandle>,
    ) -> wasmtime::Result<(&mut MenuHandle, Held<'_>)> {
        let held = Held {
            limits: &self.limits,
            bytes: &mut self.turn_bytes,
        };
        Ok((self.table.get_mut(menu)?, held))
    }
}

impl wire::HostMenu for CallState {
    async fn new(&mut self) -> wasmtime::Result<Resource<MenuHandle>> {
        Ok(self.table.push(MenuHandle::new())?)
    }

    async fn add_function(
        &mut self,
        menu: Resource<MenuHandle>,
        name: String,
        function: String,
        description: Option<String>,
    ) -> wasmtime::Result<()> {
        let (menu, mut held) = self.collecting(&menu)?;
        let limits = held.limits;
        menu.set(|menu| {
            let texts = [&name, &function, description.as_deref().unwrap_or("")];
            menu.pay(&texts, &mut held)?;
            menu.add(name, description, OptionKind::Function(function), limits)
        });
        Ok(())
    }

    async fn add_value(
        &mut self,
        menu: Resource<MenuHandle>,
        name: String,
        value: String,
        description: Option<String>,
    ) -> wasmtime::Result<()> {
        let (menu, mut held) = self.collecting(&menu)?;
        let limits = held.limits;
        menu.set(|menu| {
            let texts = [&name, &value, description.as_deref().unwrap_or("")];
            menu.pay(&texts, &mut held)?;
            let path = format!("{}.value", menu.path());
            let value = parse_json(&value, limits.json_depth)
                .map_err(|error| not_json(&path, &error, limits.json_depth))?;
            menu.add(name, description, OptionKind::Value(value), limits)
        });
        Ok(())
    }

    async fn add_schema(
        &mut self,
        menu: Resource<MenuHandle>,
        name: String,
        schema: String,
        description: Option<String>,
    ) -> wasmtime::Result<()> {
        let (menu, mut held) = self.collecting(&menu)?;
        let limits = held.limits;
        menu.set(|menu| {
            let texts = [&name, &schema, description.as_deref().unwrap_or("")];
            menu.pay(&texts, &mut held)?;
            let path = menu.path();
            let schema = parse_json(&schema, limits.json_depth)
                .map_err(|error| not_json(&format!("{path}.schema"), &error, limits.json_depth))?;
            let fields = parse_schema(&schema).map_err(|error| {
                let path = format!("{path}.{}", error.path);
                invalid(&path, format!("`{path}`: {}", error.message))
            })?;
            menu.add(name, description, OptionKind::Schema(fields), limits)
        });
        Ok(())
    }

    async fn set_context(
        &mut self,
        menu: Resource<MenuHandle>,
        context: String,
    ) -> wasmtime::Result<()> {
        let (menu, mut held) = self.collecting(&menu)?;
        let limits = held.limits;
        menu.set(|menu| {
            menu.pay(&[&context], &mut held)?;
            let context = parse_json(&context, limits.json_depth)
                .map_err(|error| not_json("context", &error, limits.json_depth))?;
            let Json::Object(context) = context else {
                let message = "`context` must be a JSON object".to_owned();
                return Err(invalid("context", message));
            };
            menu.context = context;
            Ok(())
        });
        Ok(())
    }

    async fn set_max_retries(
        &mut self,
        menu: Resource<MenuHandle>,
        max_retries: u32,
    ) -> wasmtime::Result<()> {
        self.table.get_mut(&menu)?.set(|menu| {
            if max_retries > RETRIES_MAX {
                let message = format!("a model is asked again at most {RETRIES_MAX} times");
                return Err(invalid("max_retries", message));
            }
            menu.max_retries = max_retries;
            Ok(())
        });
        Ok(())
    }

    async fn set_runtime(
        &mut self,
        menu: Resource<MenuHandle>,
        runtime: Resource<RuntimeHandle>,
    ) -> wasmtime::Result<()> {
        let named = self.runtime_of(&runtime)?;
        self.table.get_mut(&menu)?.runtime = Some(named);
        Ok(())
    }

    async fn set_min_confidence(
        &mut self,
        menu: Resource<MenuHandle>,
        level: f64,
        hand_off: Option<String>,
    ) -> wasmtime::Result<()> {
        let (menu, mut held) = self.collecting(&menu)?;
        menu.set(|menu| {
            menu.pay(&[hand_off.as_deref().unwrap_or("")], &mut held)?;
            menu.settings.min_confidence = Some(MinConfidence { level, hand_off });
            Ok(())
        });
        Ok(())
    }

    async fn set_votes(&mut self, menu: Resource<MenuHandle>, votes: u32) -> wasmtime::Result<()> {
        self.table.get_mut(&menu)?.settings.votes = Some(votes);
        Ok(())
    }

    async fn set_exit(
        &mut self,
        menu: Resource<MenuHandle>,
        name: Option<String>,
        description: Option<String>,
    ) -> wasmtime::Result<()> {
        let (menu, mut held) = self.collecting(&menu)?;
        let limits = held.limits;
        menu.set(|menu| {
            let exit = OptionSpec::exit(name, description);
            let texts = [&exit.name, exit.description.as_deref().unwrap_or("")];
            menu.pay(&texts, &mut held)?;
            menu.set_exit(exit, limits)
        });
        Ok(())
    }

    async fn add_group(
        &mut self,
        menu: Resource<MenuHandle>,
        name: String,
        description: Option<String>,
        options: Vec<String>,
    ) -> wasmtime::Result<()> {
        let (menu, mut held) = self.collecting(&menu)?;
        menu.set(|menu| {
            if options.len() > MENU_OPTIONS_MAX {
                let message = format!("a group has at most {MENU_OPTIONS_MAX} options");
                return Err(invalid("groups", message));
            }
            let mut texts = vec![name.as_str(), description.as_deref().unwrap_or("")];
            texts.extend(options.iter().map(String::as_str));
            menu.pay(&texts, &mut held)?;
            menu.add_group(OptionGroup {
                name,
                description,
                options,
            })
        });
        Ok(())
    }

    async fn add_image(
        &mut self,
        menu: Resource<MenuHandle>,
        data: Vec<u8>,
        mime_type: String,
    ) -> wasmtime::Result<()> {
        let (menu, held) = self.showing(&menu)?;
        menu.add_media(MediaKind::Image, data, &mime_type, held);
        Ok(())
    }

    async fn add_video(
        &mut self,
        menu: Resource<MenuHandle>,
        data: Vec<u8>,
        mime_type: String,
    ) -> wasmtime::Result<()> {
        let (menu, held) = self.showing(&menu)?;
        menu.add_media(MediaKind::Video, data, &mime_type, held);
        Ok(())
    }

    async fn add_audio(
        &mut self,
        menu: Resource<MenuHandle>,
        data: Vec<u8>,
        mime_type: String,
    ) -> wasmtime::Result<()> {
        let (menu, held) = self.showing(&menu)?;
        menu.add_media(MediaKind::Audio, data, &mime_type, held);
        Ok(())
    }

    async fn add_file(&mut self, menu: Resource<MenuHandle>, path: String) -> wasmtime::Result<()> {
        let (shown, held) = self.showing(&menu)?;
        let Some(limit) = shown.file_bytes_max(&held) else {
            return Ok(());
        };
        let place = shown.next_medium();
        let read = self.files().read_whole(&path, &place, limit).await?;
        let (shown, held) = self.showing(&menu)?;
        shown.add_file(&path, read, held);
        Ok(())
    }

    async fn drop(&mut self, menu: Resource<MenuHandle>) -> wasmtime::Result<()> {
        let menu = self.table.delete(menu)?;
        self.turn_bytes -= menu.media_bytes;
        self.menu_bytes -= menu.held();
        Ok(())
    }
}
