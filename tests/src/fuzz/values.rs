//! A type and a value read out of bytes, and what holds when the value crosses to the component
//! model and back.

use std::sync::Arc;

use anyhow::{Result, ensure};
use openprogram_component::Limits;
use openprogram_component::testing::round_trip;
use openprogram_core::schema::{Case, CasesType, Field, IntegerKind, RecordType, Type};
use openprogram_core::{Json, JsonObject};

/// Types nested in each other; the loader takes no more than this of a component.
const TYPE_DEPTH_MAX: usize = 64;
/// Values nested in each other: more than may cross.
const VALUE_DEPTH_MAX: usize = 100;
/// Parts of one input, so that each is tried in no time.
const PARTS_MAX: usize = 20_000;

const INTEGERS: [IntegerKind; 8] = [
    IntegerKind::S8,
    IntegerKind::U8,
    IntegerKind::S16,
    IntegerKind::U16,
    IntegerKind::S32,
    IntegerKind::U32,
    IntegerKind::S64,
    IntegerKind::U64,
];
/// Numbers as JSON texts, at the edges of what types hold.
const NUMBERS: [&str; 20] = [
    "0",
    "-0",
    "1",
    "-1",
    "127",
    "128",
    "-129",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "0.1",
    "1e-400",
    "5.0",
];
/// Texts with a meaning for some type.
const TEXTS: [&str; 12] = [
    "",
    "a",
    "b-c",
    "m_0",
    "NaN",
    "-Infinity",
    "AAEC",
    "====",
    "\u{1b}[2J",
    "\u{10ffff}\u{0}",
    "{",
    "[[[[1]]]]",
];

/// Reads the input and has the value cross twice.
///
/// # Errors
/// When the value that came back is another one after it has crossed again, or there is more of it
/// than there may be.
pub(super) fn check(input: &[u8]) -> Result<String> {
    let mut source = Source {
        bytes: input,
        parts: 0,
    };
    let ty = source.ty(0);
    let value = match source.choice() % 4 {
        0 => source.any(0),
        _ => source.value(&ty, 0),
    };
    let limits = Limits::default();
    let small = Limits {
        result_bytes: 64,
        json_depth: 4,
        ..Limits::default()
    };
    if let Ok(back) = round_trip(&value, &ty, &small) {
        let length = back.to_string().len();
        ensure!(length < 64 * 16, "{length} bytes came back where 64 may");
    }
    let back = match round_trip(&value, &ty, &limits) {
        Ok(back) => back,
        Err(error) => return Ok(error.to_string()),
    };
    let again = round_trip(&back, &ty, &limits);
    ensure!(
        again.as_ref() == Ok(&back),
        "{value} of {ty:?} came back as {back}, and then as {again:?}"
    );
    Ok(format!("{:?}", std::mem::discriminant(&ty)))
}

/// Bytes that are read as choices; after the last one every choice is the first.
struct Source<'a> {
    bytes: &'a [u8],
    parts: usize,
}

impl Source<'_> {
    fn choice(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.choice()) % end
    }

    fn one_in(&mut self, count: u8) -> bool {
        self.choice().is_multiple_of(count)
    }

    /// Whether there may be another part.
    fn part(&mut self) -> bool {
        self.parts += 1;
        self.parts < PARTS_MAX && !self.bytes.is_empty()
    }

    fn ty(&mut self, depth: usize) -> Type {
        if depth >= TYPE_DEPTH_MAX || !self.part() {
            return Type::Bool;
        }
        let inner = |source: &mut Self| Box::new(source.ty(depth + 1));
        match self.choice() % 20 {
            0 => Type::Bool,
            1 | 2 => Type::Integer(INTEGERS[self.below(INTEGERS.len())]),
            3 => Type::Float32,
            4 => Type::Float64,
            5 => Type::Char,
            6 => Type::String,
            7 => Type::Bytes,
            8 => Type::Json,
            9 => Type::List(inner(self)),
            10 => {
                let length = u32::from(self.choice() % 5);
                Type::FixedList(inner(self), length)
            }
            11 => {
                let keys = [
                    Type::String,
                    Type::Char,
                    Type::Bool,
                    Type::Integer(IntegerKind::U64),
                ];
                let key = keys[self.below(keys.len())].clone();
                Type::Map(Box::new(key), inner(self))
            }
            12 | 13 => Type::Option(inner(self)),
            14 => {
                let count = self.below(4);
                Type::Tuple((0..count).map(|_| self.ty(depth + 1)).collect())
            }
            15 => {
                let sides = self.choice();
                let ok = (sides & 1 != 0).then(|| inner(self));
                let err = (sides & 2 != 0).then(|| inner(self));
                Type::Result(ok, err)
            }
            16 => {
                let count = self.below(4);
                let fields = (0..count).map(|n| Field::new(format!("m_{n}"), self.ty(depth + 1)));
                let fields = fields.collect();
                Type::Record(Arc::new(RecordType {
                    name: None,
                    description: None,
                    fields,
                }))
            }
            17 => Type::Enum(self.cases(depth, false)),
            18 => Type::Flags(self.cases(depth, false)),
            _ => Type::Variant(self.cases(depth, true)),
        }
    }

    fn cases(&mut self, depth: usize, with_payloads: bool) -> Arc<CasesType> {
        let count = 1 + self.below(4);
        let cases = (0..count).map(|n| Case {
            name: format!("m_{n}"),
            description: None,
            payload: (with_payloads && self.one_in(2)).then(|| self.ty(depth + 1)),
        });
        let cases = cases.collect();
        Arc::new(CasesType {
            name: None,
            description: None,
            cases,
        })
    }

    /// Mostly a value of this type.
    fn value(&mut self, ty: &Type, depth: usize) -> Json {
        if !self.part() || self.choice() % 32 == 31 {
            return self.any(depth);
        }
        let next = depth + 1;
        match ty {
            Type::Bool => (self.one_in(2)).into(),
            Type::Integer(_) | Type::Float32 | Type::Float64 => self.number(),
            Type::Char | Type::String | Type::Bytes | Type::Handle(_) => self.text(),
            Type::Json | Type::AnyArray | Type::AnyObject => self.any(depth),
            Type::List(inner) => {
                let count = self.below(5);
                (0..count).map(|_| self.value(inner, next)).collect()
            }
            Type::FixedList(inner, length) => {
                (0..*length).map(|_| self.value(inner, next)).collect()
            }
            Type::Map(_, inner) => {
                let count = self.below(4);
                let entries = (0..count).map(|_| (self.key(), self.value(inner, next)));
                Json::Object(entries.collect())
            }
            Type::Option(_) if self.one_in(3) => Json::Null,
            Type::Option(inner) => match self.choice() % 2 {
                0 => self.value(inner, next),
                _ => object("some", self.value(inner, next)),
            },
            Type::Tuple(items) => items.iter().map(|item| self.value(item, next)).collect(),
            Type::Result(ok, err) => {
                let (side, inner) = match self.choice() % 2 {
                    0 => ("ok", ok),
                    _ => ("err", err),
                };
                let value = inner.as_ref().map(|inner| self.value(inner, next));
                object(side, value.unwrap_or(Json::Null))
            }
            Type::Record(record) => {
                let fields = record.fields.iter();
                let fields = fields.map(|field| (field.name.clone(), self.value(&field.ty, next)));
                Json::Object(fields.collect())
            }
            Type::Flags(cases) => {
                let names = cases.cases.iter().filter(|_| self.one_in(2));
                names.map(|case| Json::from(case.name.clone())).collect()
            }
            Type::Enum(cases) | Type::Variant(cases) => {
                let case = &cases.cases[self.below(cases.cases.len())];
                match &case.payload {
                    Some(payload) => object(&case.name, self.value(payload, next)),
                    None => case.name.clone().into(),
                }
            }
        }
    }

    /// Any JSON at all.
    fn any(&mut self, depth: usize) -> Json {
        if depth >= VALUE_DEPTH_MAX || !self.part() {
            return Json::Null;
        }
        match self.choice() % 8 {
            0 => Json::Null,
            1 => (self.one_in(2)).into(),
            2 => self.number(),
            3 => self.text(),
            4 | 5 => {
                let count = self.below(5);
                (0..count).map(|_| self.any(depth + 1)).collect()
            }
            _ => {
                let count = self.below(4);
                let entries = (0..count).map(|_| (self.key(), self.any(depth + 1)));
                Json::Object(entries.collect::<JsonObject>())
            }
        }
    }

    fn key(&mut self) -> String {
        let keys = [
            "m_0", "m_1", "m-2", "some", "ok", "err", "", "1", "true", "x",
        ];
        keys[self.below(keys.len())].to_owned()
    }

    fn number(&mut self) -> Json {
        let text = match self.choice() % 4 {
            0 => i64::from_le_bytes(std::array::from_fn(|_| self.choice())).to_string(),
            1 => self.choice().to_string(),
            _ => NUMBERS[self.below(NUMBERS.len())].to_owned(),
        };
        // Numbers that this build of the parser does not hold are text.
        serde_json::from_str(&text).unwrap_or(Json::String(text))
    }

    fn text(&mut self) -> Json {
        match self.choice() % 3 {
            0 => {
                let length = self.below(16).min(self.bytes.len());
                let (text, rest) = self.bytes.split_at(length);
                self.bytes = rest;
                String::from_utf8_lossy(text).into_owned().into()
            }
            _ => TEXTS[self.below(TEXTS.len())].into(),
        }
    }
}

fn object(key: &str, value: Json) -> Json {
    Json::Object([(key.to_owned(), value)].into_iter().collect())
}
