//! Random types: every form there is, deep and wide ones, names that are easily mistaken.

use std::collections::BTreeSet;
use std::sync::Arc;

use openprogram_core::schema::{Case, CasesType, Field, IntegerKind, RecordType, Type, shown_name};

use crate::fuzz::Random;

/// Types nested in each other; deeper ones are rare.
const DEPTH: usize = 4;
const DEPTH_RARE: usize = 16;
/// Parts of one type, so that its component stays small.
const PARTS_MAX: usize = 40;
/// The most names of one flags type, by the component model.
const FLAGS_MAX: usize = 32;

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
/// Names as WIT writes them: keywords of WIT, words of the forms in JSON, words of decisions.
const NAMES: [&str; 28] = [
    "a",
    "b-c",
    "x1",
    "HTTP-get",
    "some",
    "none",
    "ok",
    "err",
    "tag",
    "val",
    "value",
    "id",
    "type",
    "record",
    "list",
    "use",
    "func",
    "interface",
    "call",
    "action",
    "args",
    "arguments",
    "name",
    "case",
    "null",
    "true",
    "default",
    "a-very-long-name-of-sixty-four-letters-that-goes-on-to-the-endxx",
];

/// Makes types; the named ones get the names `t0`, `t1`, … in the order in which they are made.
pub struct TypeMaker<'a> {
    random: &'a mut Random,
    /// The number of the next named type.
    next: &'a mut usize,
    parts: usize,
}

impl<'a> TypeMaker<'a> {
    /// A maker for one function.
    pub fn new(random: &'a mut Random, next: &'a mut usize) -> Self {
        Self {
            random,
            next,
            parts: 0,
        }
    }

    /// A type.
    pub fn ty(&mut self) -> Type {
        let depth = match self.random.below(8) {
            0 => DEPTH_RARE,
            _ => 1 + self.random.below(DEPTH),
        };
        self.at(depth)
    }

    fn at(&mut self, depth: usize) -> Type {
        self.parts += 1;
        if depth == 0 || self.parts > PARTS_MAX {
            return self.scalar();
        }
        // A deep type is deep by containers of one part.
        let forms = if depth > DEPTH { 6 } else { 16 };
        let inner = |maker: &mut Self| Box::new(maker.at(depth - 1));
        match self.random.below(forms) {
            0 => Type::List(inner(self)),
            1 | 2 => Type::Option(inner(self)),
            3 => Type::Map(Box::new(self.key()), inner(self)),
            4 => {
                let length = 1 + self.random.below(4);
                Type::FixedList(inner(self), u32::try_from(length).unwrap_or(1))
            }
            5 => {
                let sides = self.random.below(4);
                let ok = (sides & 1 != 0).then(|| inner(self));
                let err = (sides & 2 != 0).then(|| inner(self));
                Type::Result(ok, err)
            }
            6 | 7 => {
                let count = 1 + self.random.below(4);
                Type::Tuple((0..count).map(|_| self.at(depth - 1)).collect())
            }
            8 | 9 => self.record(depth),
            10 | 11 => self.variant(depth),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Type {
        match self.random.below(16) {
            0 => Type::Bool,
            1..=4 => Type::Integer(self.integer()),
            5 => Type::Float32,
            6 => Type::Float64,
            7 => Type::Char,
            8 | 9 => Type::String,
            10 => Type::Bytes,
            11 => Type::Json,
            12 | 13 => {
                let names = self.names(200);
                Type::Enum(self.cases(names.into_iter().map(|name| (name, None)).collect()))
            }
            _ => {
                let names = self.names(FLAGS_MAX);
                Type::Flags(self.cases(names.into_iter().map(|name| (name, None)).collect()))
            }
        }
    }

    fn integer(&mut self) -> IntegerKind {
        INTEGERS[self.random.below(INTEGERS.len())]
    }

    /// A type that the component model takes as a key.
    fn key(&mut self) -> Type {
        match self.random.below(6) {
            0 => Type::Bool,
            1 => Type::Char,
            2 => Type::Integer(self.integer()),
            _ => Type::String,
        }
    }

    fn record(&mut self, depth: usize) -> Type {
        let names = self.names(24);
        let fields = names.into_iter().map(|name| {
            let ty = self.at(depth - 1);
            Field::new(name, ty)
        });
        let fields = fields.collect();
        Type::Record(Arc::new(RecordType {
            name: Some(self.name()),
            description: None,
            fields,
        }))
    }

    fn variant(&mut self, depth: usize) -> Type {
        let names = self.names(24);
        let cases = names.into_iter().map(|name| {
            let payload = (self.random.below(3) > 0).then(|| self.at(depth - 1));
            (name, payload)
        });
        let cases = cases.collect();
        Type::Variant(self.cases(cases))
    }

    fn cases(&mut self, cases: Vec<(String, Option<Type>)>) -> Arc<CasesType> {
        let cases = cases.into_iter().map(|(name, payload)| Case {
            name,
            description: None,
            payload,
        });
        Arc::new(CasesType {
            cases: cases.collect(),
            name: Some(self.name()),
            description: None,
        })
    }

    fn name(&mut self) -> String {
        *self.next += 1;
        format!("t{}", *self.next - 1)
    }

    /// Some names, each once and as models see them; sometimes very many.
    pub fn names(&mut self, most: usize) -> Vec<String> {
        if self.random.below(12) == 0 {
            let count = most - self.random.below(most / 4);
            return (0..count).map(|n| format!("m{n}")).collect();
        }
        let count = 1 + self.random.below(4);
        let mut names = BTreeSet::new();
        let mut listed = Vec::new();
        for _ in 0..count {
            let name = NAMES[self.random.below(NAMES.len())];
            if names.insert(name) {
                listed.push(shown_name(name));
            }
        }
        listed
    }
}
