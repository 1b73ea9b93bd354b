//! Calls whose whole signature is bytes and text, by static type.
//!
//! A dynamic value takes 40 bytes per byte of a `list<u8>` and a branch for each; these calls copy.

use openprogram_core::guest::CallError;
use openprogram_core::{Json, JsonObject};
use wasmtime::Store;
use wasmtime::component::{ComponentNamedList, Instance, Lift, Lower};

use crate::convert::{ConvertError, Output, decode_bytes, encode_bytes};
use crate::instance::Stop;
use crate::prepare::{BytesCall, Prepared, PreparedFunction};
use crate::state::CallState;

/// Makes the call.
pub(crate) async fn call(
    store: &mut Store<CallState>,
    prepared: &Prepared,
    function: &PreparedFunction,
    kind: BytesCall,
    arguments: &JsonObject,
) -> Result<Json, Stop> {
    let mut output = Output::new(&store.data().limits);
    let mut typed = Typed {
        store,
        prepared,
        function,
    };
    let bytes = match kind {
        BytesCall::NothingToBytes => typed.call::<_, (Vec<u8>,)>(()).await?.0,
        BytesCall::BytesToBytes => {
            let given = bytes_argument(arguments)?;
            typed.call::<_, (Vec<u8>,)>((given,)).await?.0
        }
        BytesCall::TextToBytes => {
            let given = text_argument(arguments)?;
            typed.call::<_, (Vec<u8>,)>((given,)).await?.0
        }
        BytesCall::BytesToText => {
            let given = bytes_argument(arguments)?;
            let (text,) = typed.call::<_, (String,)>((given,)).await?;
            return Ok(text_result(text, &mut output)?);
        }
        BytesCall::BytesToBytesOrText => {
            let given = bytes_argument(arguments)?;
            let (returned,) = typed
                .call::<_, (Result<Vec<u8>, String>,)>((given,))
                .await?;
            match returned {
                Ok(bytes) => bytes,
                Err(text) => {
                    let error = text_result(text, &mut output)?;
                    return Err(CallError::Function(error).into());
                }
            }
        }
    };
    output
        .pay(bytes.len().div_ceil(3) * 4 + 2)
        .map_err(CallError::from)?;
    Ok(Json::String(encode_bytes(&bytes)))
}

struct Typed<'a> {
    store: &'a mut Store<CallState>,
    prepared: &'a Prepared,
    function: &'a PreparedFunction,
}

impl Typed<'_> {
    async fn call<P, R>(&mut self, parameters: P) -> Result<R, Stop>
    where
        P: ComponentNamedList + Lower + Send + Sync,
        R: ComponentNamedList + Lift + Send + Sync + 'static,
    {
        let pre = &self.prepared.pre;
        let instance: Instance = pre.instantiate_async(&mut *self.store).await?;
        let gone = || CallError::Internal("an export is gone".to_owned());
        let index = self.function.index.as_ref().ok_or_else(gone)?;
        let function = instance.get_typed_func::<P, R>(&mut *self.store, index)?;
        Ok(function.call_async(&mut *self.store, parameters).await?)
    }
}

fn only_argument(arguments: &JsonObject) -> Option<(&str, &Json)> {
    let (name, value) = arguments.iter().next()?;
    Some((name, value))
}

fn missing() -> CallError {
    CallError::from(ConvertError {
        path: String::new(),
        message: "missing".to_owned(),
    })
}

fn bytes_argument(arguments: &JsonObject) -> Result<Vec<u8>, CallError> {
    let (name, value) = only_argument(arguments).ok_or_else(missing)?;
    decode_bytes(value).map_err(|message| {
        CallError::from(ConvertError {
            path: name.to_owned(),
            message,
        })
    })
}

fn text_argument(arguments: &JsonObject) -> Result<String, CallError> {
    let (name, value) = only_argument(arguments).ok_or_else(missing)?;
    let text = value.as_str().map(ToOwned::to_owned);
    text.ok_or_else(|| {
        CallError::from(ConvertError {
            path: name.to_owned(),
            message: "expected a string".to_owned(),
        })
    })
}

fn text_result(text: String, output: &mut Output) -> Result<Json, CallError> {
    output.pay(text.len() + 2).map_err(CallError::from)?;
    Ok(Json::String(text))
}
