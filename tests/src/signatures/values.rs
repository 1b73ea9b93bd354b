//! Random values of a type, in canonical form: what a component that gives them back answers.

use std::collections::BTreeSet;

use openprogram_core::schema::{IntegerKind, Type};
use openprogram_core::{Json, JsonObject};

use crate::fuzz::Random;

/// Texts that are easily damaged on the way.
const TEXTS: [&str; 14] = [
    "",
    "a",
    " \t\r\n",
    "\0",
    "\"\\/{}[]",
    "null",
    "0.10",
    "é",
    "e\u{301}",
    "\u{202e}abc\u{202c}",
    "\u{feff}\u{2028}\u{2029}",
    "👩‍👧🏽",
    "\u{10ffff}\u{e000}\u{d7ff}",
    "{\"some\": null}",
];
const CHARS: [char; 9] = [
    '\0',
    'a',
    '"',
    '\\',
    'é',
    '\u{d7ff}',
    '\u{e000}',
    '🦀',
    '\u{10ffff}',
];
/// Numbers of any value of JSON; all digits have to stay.
const NUMBERS: [&str; 8] = [
    "0",
    "-0.0",
    "0.10",
    "1e-7",
    "18446744073709551616",
    "9007199254740993",
    "-9223372036854775809",
    "123456789.123456789123456789",
];

/// Makes values.
pub struct ValueMaker<'a> {
    random: &'a mut Random,
    /// Whether floats are such that JSON has numbers for them.
    finite: bool,
}

impl<'a> ValueMaker<'a> {
    /// A maker; with `finite`, of values that a model can write by the schema.
    pub fn new(random: &'a mut Random, finite: bool) -> Self {
        Self { random, finite }
    }

    /// A value of this type.
    pub fn value(&mut self, ty: &Type) -> Json {
        match ty {
            Type::Bool => (self.random.below(2) == 0).into(),
            Type::Integer(kind) => self.integer(*kind),
            Type::Float32 => self.float32(),
            Type::Float64 => self.float64(),
            Type::Char => self.char().to_string().into(),
            Type::String | Type::Handle(_) => self.text().into(),
            Type::Bytes => self.bytes(),
            Type::Json => self.json(3),
            Type::AnyArray => Json::Array(vec![self.json(2)]),
            Type::AnyObject => Json::Object(JsonObject::new()),
            Type::List(inner) => {
                let count = match self.random.below(8) {
                    0 => 0,
                    1 if is_small(inner) => 300,
                    _ => 1 + self.random.below(3),
                };
                (0..count).map(|_| self.value(inner)).collect()
            }
            Type::FixedList(inner, length) => (0..*length).map(|_| self.value(inner)).collect(),
            Type::Map(key, inner) => self.map(key, inner),
            Type::Option(inner) => self.option(inner),
            Type::Tuple(types) => types.iter().map(|ty| self.value(ty)).collect(),
            Type::Result(ok, err) => {
                let (side, ty) = match self.random.below(2) {
                    0 => ("ok", ok),
                    _ => ("err", err),
                };
                let payload = ty.as_ref().map(|ty| self.value(ty));
                object(side, payload.unwrap_or(Json::Null))
            }
            Type::Record(record) => {
                let mut members = JsonObject::new();
                for field in &record.fields {
                    let value = self.value(&field.ty);
                    if !(value.is_null() && matches!(field.ty, Type::Option(_))) {
                        members.insert(field.name.clone(), value);
                    }
                }
                Json::Object(members)
            }
            Type::Flags(cases) => {
                let chance = 1 + self.random.below(3);
                let names = cases.cases.iter().map(|case| &case.name);
                let chosen = names.filter(|_| self.random.below(chance) == 0);
                chosen.map(|name| Json::from(name.as_str())).collect()
            }
            Type::Enum(cases) | Type::Variant(cases) => {
                let case = &cases.cases[self.random.below(cases.cases.len())];
                match &case.payload {
                    Some(ty) => object(&case.name, self.value(ty)),
                    None => case.name.as_str().into(),
                }
            }
        }
    }

    fn integer(&mut self, kind: IntegerKind) -> Json {
        let (low, high) = kind.bounds().unwrap_or((i64::MIN.into(), u64::MAX.into()));
        let value = match self.random.below(8) {
            0 => low,
            1 => high,
            2 => 0,
            3 => 1 << 53 | 1,
            4 => -1,
            _ => low + i128::from(self.wide()) % (high - low + 1),
        };
        let value = value.clamp(low, high);
        serde_json::from_str(&value.to_string()).unwrap_or(Json::Null)
    }

    /// 64 bits.
    fn wide(&mut self) -> u64 {
        self.random.number() << 32 ^ self.random.number()
    }

    fn float32(&mut self) -> Json {
        let bits = u32::try_from(self.wide() & 0xffff_ffff).unwrap_or_default();
        let edges = [
            0.0,
            -0.0,
            0.1,
            f32::MAX,
            f32::MIN_POSITIVE,
            f32::from_bits(1),
            1e30,
            16_777_217.0,
        ];
        let words = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let value = match self.random.below(4) {
            0 => words[self.random.below(words.len())],
            1 => f32::from_bits(bits),
            _ => edges[self.random.below(edges.len())],
        };
        match value {
            value if value.is_finite() => value.into(),
            value => self.not_finite(value.into()),
        }
    }

    fn float64(&mut self) -> Json {
        let bits = self.wide();
        let edges = [
            0.0,
            -0.0,
            0.1,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            1e300,
            9_007_199_254_740_993.0,
        ];
        let words = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let value = match self.random.below(4) {
            0 => words[self.random.below(words.len())],
            1 => f64::from_bits(bits),
            _ => edges[self.random.below(edges.len())],
        };
        match value {
            value if value.is_finite() => value.into(),
            value => self.not_finite(value),
        }
    }

    fn not_finite(&self, value: f64) -> Json {
        match value {
            _ if self.finite => 0.5.into(),
            value if value.is_nan() => "NaN".into(),
            value if value > 0.0 => "Infinity".into(),
            _ => "-Infinity".into(),
        }
    }

    fn char(&mut self) -> char {
        let any = u32::try_from(self.random.below(0x11_0000)).unwrap_or_default();
        match self.random.below(2) {
            0 => CHARS[self.random.below(CHARS.len())],
            _ => char::from_u32(any).unwrap_or('\u{fffd}'),
        }
    }

    fn text(&mut self) -> String {
        match self.random.below(8) {
            0..=4 => TEXTS[self.random.below(TEXTS.len())].to_owned(),
            5 => TEXTS[self.random.below(TEXTS.len())].repeat(200),
            _ => (0..self.random.below(12)).map(|_| self.char()).collect(),
        }
    }

    fn bytes(&mut self) -> Json {
        use base64::Engine as _;
        let count = match self.random.below(4) {
            0 => 1_000,
            _ => self.random.below(8),
        };
        let bytes: Vec<u8> = (0..count).map(|_| self.random.byte()).collect();
        base64::engine::general_purpose::STANDARD
            .encode(bytes)
            .into()
    }

    fn json(&mut self, depth: usize) -> Json {
        match self.random.below(if depth == 0 { 4 } else { 6 }) {
            0 => Json::Null,
            1 => true.into(),
            2 => {
                let text = NUMBERS[self.random.below(NUMBERS.len())];
                serde_json::from_str(text).unwrap_or(Json::Null)
            }
            3 => self.text().into(),
            4 => (0..self.random.below(3))
                .map(|_| self.json(depth - 1))
                .collect(),
            _ => {
                let count = self.random.below(3);
                let entries = (0..count).map(|_| (self.text(), self.json(depth - 1)));
                Json::Object(entries.collect::<JsonObject>())
            }
        }
    }

    fn map(&mut self, key: &Type, inner: &Type) -> Json {
        let mut entries = JsonObject::new();
        let mut keys = BTreeSet::new();
        for _ in 0..self.random.below(4) {
            let key = match self.value(key) {
                Json::String(text) => text,
                other => other.to_string(),
            };
            if keys.insert(key.clone()) {
                let value = self.value(inner);
                entries.insert(key, value);
            }
        }
        Json::Object(entries)
    }

    /// None, or some. Some of an option is wrapped, and some of the value null has no form.
    fn option(&mut self, inner: &Type) -> Json {
        if self.random.below(3) == 0 {
            return Json::Null;
        }
        let value = self.value(inner);
        match inner {
            Type::Option(_) => object("some", value),
            _ => value,
        }
    }
}

/// Whether three hundred of them are still little.
fn is_small(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Bool | Type::Integer(_) | Type::Float32 | Type::Float64 | Type::Char | Type::Enum(_)
    )
}

fn object(key: &str, value: Json) -> Json {
    Json::Object([(key.to_owned(), value)].into_iter().collect())
}
