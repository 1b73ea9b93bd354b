//! JSON written in Rust tokens, as in `default = ["a", -1, null]`.
//!
//! Every value keeps its span, so that what does not fit is reported where it stands.

use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, Token, braced, bracketed};

/// A JSON value and where it stands.
#[derive(Clone)]
pub(crate) struct Literal {
    pub(crate) span: Span,
    pub(crate) value: LiteralValue,
}

#[derive(Clone)]
pub(crate) enum LiteralValue {
    Null,
    Bool(bool),
    Integer(i128),
    /// A number with a fraction or an exponent, in decimal digits.
    Float(String),
    Text(String),
    List(Vec<Literal>),
    Object(Vec<Entry>),
}

/// One key and value of an object.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) span: Span,
    pub(crate) value: Literal,
}

impl LiteralValue {
    /// What kind of value this is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            LiteralValue::Null => "`null`",
            LiteralValue::Bool(_) => "a boolean",
            LiteralValue::Integer(_) => "an integer",
            LiteralValue::Float(_) => "a number with a fraction",
            LiteralValue::Text(_) => "a text",
            LiteralValue::List(_) => "a list",
            LiteralValue::Object(_) => "an object",
        }
    }
}

impl Literal {
    /// The value as JSON text.
    pub(crate) fn to_json(&self) -> String {
        match &self.value {
            LiteralValue::Null => "null".to_owned(),
            LiteralValue::Bool(value) => value.to_string(),
            LiteralValue::Integer(value) => value.to_string(),
            LiteralValue::Float(digits) => digits.clone(),
            LiteralValue::Text(text) => quoted(text),
            LiteralValue::List(items) => {
                let items: Vec<String> = items.iter().map(Literal::to_json).collect();
                format!("[{}]", items.join(","))
            }
            LiteralValue::Object(entries) => {
                let pair =
                    |entry: &Entry| format!("{}:{}", quoted(&entry.key), entry.value.to_json());
                format!(
                    "{{{}}}",
                    entries.iter().map(pair).collect::<Vec<_>>().join(",")
                )
            }
        }
    }
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Parse for Literal {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let span = input.span();
        let value = if input.peek(syn::token::Bracket) {
            let content;
            bracketed!(content in input);
            let items = Punctuated::<Literal, Token![,]>::parse_terminated(&content)?;
            LiteralValue::List(items.into_iter().collect())
        } else if input.peek(syn::token::Brace) {
            let content;
            braced!(content in input);
            let entries = Punctuated::<Entry, Token![,]>::parse_terminated(&content)?;
            LiteralValue::Object(entries.into_iter().collect())
        } else if input.peek(Token![-]) {
            input.parse::<Token![-]>()?;
            number(&input.parse()?, "-")?
        } else if input.peek(Lit) {
            match input.parse()? {
                Lit::Bool(value) => LiteralValue::Bool(value.value),
                Lit::Str(text) => LiteralValue::Text(text.value()),
                Lit::Char(character) => LiteralValue::Text(character.value().to_string()),
                other => number(&other, "")?,
            }
        } else if input.peek(Ident) && input.fork().parse::<Ident>()? == "null" {
            input.parse::<Ident>()?;
            LiteralValue::Null
        } else {
            let message = "expected a JSON value: a text, a number, `true`, `false`, `null`, \
                           `[…]` or `{\"key\": …}`";
            return Err(syn::Error::new(span, message));
        };
        Ok(Literal { span, value })
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let span = input.span();
        let key = if input.peek(syn::LitStr) {
            input.parse::<syn::LitStr>()?.value()
        } else {
            Ident::parse_any(input)?.to_string()
        };
        input.parse::<Token![:]>()?;
        Ok(Entry {
            key,
            span,
            value: input.parse()?,
        })
    }
}

fn number(literal: &Lit, sign: &str) -> syn::Result<LiteralValue> {
    match literal {
        Lit::Int(digits) if digits.suffix().is_empty() => {
            let text = format!("{sign}{}", digits.base10_digits());
            let value = text.parse();
            value.map(LiteralValue::Integer).map_err(|_| {
                syn::Error::new(
                    literal.span(),
                    format!("`{text}` does not fit any integer type"),
                )
            })
        }
        Lit::Float(digits) if digits.suffix().is_empty() => {
            // `1.` is Rust and not JSON, which wants a digit after the point.
            let digits = digits.base10_digits();
            let zero = if digits.ends_with('.') { "0" } else { "" };
            Ok(LiteralValue::Float(format!("{sign}{digits}{zero}")))
        }
        other => Err(syn::Error::new(
            other.span(),
            "expected a JSON value: a text, a number without suffix, `true`, `false` or `null`",
        )),
    }
}
