//! What holds for every reply and every option file. A panic is the failure.
//!
//! The fuzz targets call this with what they make up; an ordinary test replays the corpus.

use std::sync::OnceLock;

use openprogram_core::decision::{
    CANDIDATES_MAX, MENU_TEXT_BYTES_MAX, Menu, MenuOption, Payload, REPLY_BYTES_MAX, extract,
    make_pick, parse_option_file, parse_reply, render_retry, resolve_value,
};
use openprogram_core::schema::CheckMode;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

/// The longest message about a reply: it names every option of the menu and quotes little else.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// What a re-ask adds to the menu: at most 1,000 characters of the reply, the message, and words.
const RETRY_BYTES_MAX: usize = 4 * 1_000 + MESSAGE_BYTES_MAX + 1_024;

/// The first byte tells the menu, the rest is the reply.
pub(crate) fn check_reply(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let reply = String::from_utf8_lossy(rest);
    let menus = menus();
    let menu = &menus[usize::from(*first) % menus.len()];
    let found = extract(&reply);
    assert_eq!(
        found,
        extract(&reply),
        "the same reply gives the same picks"
    );
    if reply.len() > REPLY_BYTES_MAX {
        assert!(found.is_err());
    }
    assert!(found.is_ok_and(|found| found.len() <= CANDIDATES_MAX) || extract(&reply).is_err());
    for mode in [CheckMode::Strict, CheckMode::Lenient] {
        match parse_reply(menu, &reply, mode) {
            Ok(pick) => {
                let option = &menu.options()[pick.index];
                assert_eq!(option.name, pick.name, "the pick is on the menu");
                assert!(!pick.arguments.contains_key("user"), "hidden stays hidden");
                assert_eq!(
                    resolve_value(menu, &pick).is_none(),
                    matches!(option.payload, Payload::Function(_))
                );
                let again = make_pick(menu, &pick.name, pick.arguments.clone());
                let again = again.expect("what was checked is valid");
                assert_eq!(
                    again.arguments, pick.arguments,
                    "checked once, checked for good"
                );
            }
            Err(error) => {
                assert!(
                    error.message.len() <= MESSAGE_BYTES_MAX,
                    "{}",
                    error.message.len()
                );
                let retry = render_retry(menu, &reply, &error);
                assert!(retry.len() <= menu.text().len() + RETRY_BYTES_MAX);
            }
        }
    }
}

/// The bytes are an option file, or a reply to one.
pub(crate) fn check_options(bytes: &[u8]) {
    let Ok(file) = serde_json::from_slice::<Json>(bytes) else {
        return;
    };
    let Ok(menu) = menu(&file) else {
        return;
    };
    assert!(menu.text().len() <= MENU_TEXT_BYTES_MAX);
    for (place, option) in menu.options().iter().enumerate() {
        assert_eq!(menu.find(&option.name).map(|found| found.0), Some(place));
        assert_eq!(
            menu.text().matches("\n    Call: {").count(),
            menu.options().len()
        );
        // The example of an option is read as its own pick, or refused as the example.
        let call = json!({"call": option.name, "args": JsonObject::new()}).to_string();
        if let Ok(pick) = parse_reply(&menu, &call, CheckMode::Strict) {
            assert_eq!(pick.index, place);
        }
    }
    for place in 0..menu.options().len() {
        assert_eq!(
            menu.rotated(place).rotated(menu.options().len() - place),
            menu
        );
    }
}

fn menu(file: &Json) -> Result<Menu, String> {
    let options = parse_option_file(file).map_err(|error| error.to_string())?;
    let look_up = |name: &str| Err(format!("no function `{name}`"));
    let options: Result<Vec<MenuOption>, String> = options
        .into_iter()
        .map(|option| option.resolve(look_up))
        .collect();
    Menu::new(options?).map_err(|error| error.to_string())
}

/// Menus of every kind of option and type.
fn menus() -> &'static [Menu; 3] {
    static MENUS: OnceLock<[Menu; 3]> = OnceLock::new();
    MENUS.get_or_init(make_menus)
}

fn make_menus() -> [Menu; 3] {
    let schema = json!({
        "action": "what to do",
        "input": {"$t": "dict"},
        "steps": [{"action": {"$t": "str"}, "n": {"$t": "option", "of": {"type": "u8"}}}],
        "mood": {"$t": "enum", "cases": {"calm": null, "tense": null}},
        "end": {"$t": "variant", "cases": {"open": null, "closed": {"of": {"type": "f64"}}}},
        "costs": {"$t": "map", "of": {"type": "option<float>"}},
        "any": {"type": "json"},
        "bytes": {"type": "bytes"},
    });
    let function = json!({"kind": "fn", "fn": {
        "name": "refund",
        "params": [
            {"name": "amount", "type": "u32"},
            {"name": "reason", "type": "str", "default": "none"},
            {"name": "user", "type": "str"},
            {"name": "runtime"},
        ],
        "input": {"user": {"hidden": true}, "reason": {"options": ["none", "late"]}},
    }});
    let files = [
        json!({"form": "dict", "entries": [
            {"key": "done", "handler": {"kind": "value", "value": "OVER"}},
            {"key": "re-fund", "handler": function},
        ]}),
        json!({"form": "dict", "entries": [
            {"key": "plan", "handler": {"kind": "schema", "schema": schema}},
            {"key": "done", "handler": {"kind": "value", "value": null}},
        ]}),
        json!({"form": "list", "items": [
            {"kind": "text", "name": "call"},
            {"kind": "text", "name": "args", "schema": {"call": {"type": "list<tuple<s8, char>>"}}},
        ]}),
    ];
    files.map(|file| menu(&file).expect("a menu"))
}
