//! Whether a function has the types with which another component imports it.
//!
//! Types are compared as wasmtime would: by what they are made of. Names of parameters and types and
//! all docs are no part of that; names of fields, cases and flags are.

use crate::facts::{FunctionFact, MemberFact, NamedFact, ParameterKind, Passage, TypeFact};

/// How long the text of a function gets before it is cut.
const TEXT_BYTES_MAX: usize = 4 << 10;
/// How much of it an error shows.
const SHOWN_CHARS_MAX: usize = 300;

/// Both functions as texts in which they differ, when their types do: first `imported`.
pub(crate) fn compare(
    imported: &FunctionFact,
    exported: &FunctionFact,
) -> Result<(), (String, String)> {
    let (ours, theirs) = (&imported.parameters, &exported.parameters);
    let same_parameters = ours.len() == theirs.len()
        && (ours.iter().zip(theirs)).all(|(a, b)| same_kind(&a.kind, &b.kind));
    let same_result = match (&imported.result, &exported.result) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    };
    if same_parameters && same_result {
        return Ok(());
    }
    let short = (function_text(imported), function_text(exported));
    let (imported, exported) = if short.0 == short.1 {
        (whole_text(imported), whole_text(exported))
    } else {
        short
    };
    Err(shown(&imported, &exported))
}

/// The type of a function on one line; types with a name are their name.
pub(crate) fn function_text(function: &FunctionFact) -> String {
    text(function, false)
}

fn whole_text(function: &FunctionFact) -> String {
    text(function, true)
}

/// Cut texts, from a little before the place where they differ.
fn shown(a: &str, b: &str) -> (String, String) {
    const BEFORE: usize = 40;
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let is_late = common >= SHOWN_CHARS_MAX - BEFORE;
    let cut = |text: &str| {
        let from = if is_late { common - BEFORE } else { 0 };
        let mut cut: String = if is_late {
            "…".to_owned()
        } else {
            String::new()
        };
        let mut rest = text.chars().skip(from);
        cut.extend(rest.by_ref().take(SHOWN_CHARS_MAX));
        if rest.next().is_some() {
            cut.push('…');
        }
        cut
    };
    (cut(a), cut(b))
}

fn same_kind(a: &ParameterKind, b: &ParameterKind) -> bool {
    match (a, b) {
        (ParameterKind::Value(a), ParameterKind::Value(b)) => same(a, b),
        _ => a == b,
    }
}

fn same(a: &TypeFact, b: &TypeFact) -> bool {
    use TypeFact as T;
    match (a, b) {
        // The alias is a word for people; what crosses is text.
        (T::String | T::Json, T::String | T::Json) => true,
        (T::List(a), T::List(b)) | (T::Option(a), T::Option(b)) => same(a, b),
        (T::FixedList(a, n), T::FixedList(b, m)) => n == m && same(a, b),
        (T::Map(a_key, a), T::Map(b_key, b)) => same(a_key, b_key) && same(a, b),
        (T::Tuple(a), T::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (T::Result(a_ok, a_err), T::Result(b_ok, b_err)) => {
            same_or_none(a_ok.as_deref(), b_ok.as_deref())
                && same_or_none(a_err.as_deref(), b_err.as_deref())
        }
        (T::Record(a), T::Record(b))
        | (T::Enum(a), T::Enum(b))
        | (T::Flags(a), T::Flags(b))
        | (T::Variant(a), T::Variant(b)) => {
            a.members.len() == b.members.len()
                && (a.members.iter().zip(&b.members))
                    .all(|(a, b)| a.name == b.name && same_or_none(a.ty.as_ref(), b.ty.as_ref()))
        }
        // Types without parts.
        _ => a == b,
    }
}

fn same_or_none(a: Option<&TypeFact>, b: Option<&TypeFact>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    }
}

fn text(function: &FunctionFact, whole: bool) -> String {
    let mut writer = Writer {
        whole,
        text: String::new(),
    };
    writer.push("func(");
    for (index, parameter) in function.parameters.iter().enumerate() {
        writer.separate(index);
        writer.push(&parameter.name);
        writer.push(": ");
        match &parameter.kind {
            ParameterKind::Value(ty) => writer.ty(ty),
            ParameterKind::Runtime => writer.push("borrow<runtime>"),
            ParameterKind::OptionalRuntime => writer.push("option<borrow<runtime>>"),
        }
    }
    writer.push(")");
    if let Some(result) = &function.result {
        writer.push(" -> ");
        writer.ty(result);
    }
    writer.text
}

struct Writer {
    whole: bool,
    text: String,
}

impl Writer {
    /// Adds a piece of the text. Types that share their parts are small in a component and endless
    /// when written out.
    fn push(&mut self, text: &str) {
        if !self.is_full() {
            self.text.push_str(text);
        }
    }

    fn is_full(&self) -> bool {
        self.text.len() > TEXT_BYTES_MAX
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.push(", ");
        }
    }

    fn ty(&mut self, ty: &TypeFact) {
        if self.is_full() {
            return;
        }
        let word = match ty {
            TypeFact::Bool => "bool",
            TypeFact::S8 => "s8",
            TypeFact::U8 => "u8",
            TypeFact::S16 => "s16",
            TypeFact::U16 => "u16",
            TypeFact::S32 => "s32",
            TypeFact::U32 => "u32",
            TypeFact::S64 => "s64",
            TypeFact::U64 => "u64",
            TypeFact::F32 => "f32",
            TypeFact::F64 => "f64",
            TypeFact::Char => "char",
            TypeFact::Bytes => "list<u8>",
            TypeFact::Json if !self.whole => "json",
            TypeFact::String | TypeFact::Json => "string",
            TypeFact::List(item) => return self.generic("list", &[Some(item)]),
            TypeFact::FixedList(item, length) => {
                self.push("list<");
                self.ty(item);
                return self.push(&format!(", {length}>"));
            }
            TypeFact::Map(key, value) => return self.generic("map", &[Some(key), Some(value)]),
            TypeFact::Option(item) => return self.generic("option", &[Some(item)]),
            TypeFact::Tuple(items) => {
                let items: Vec<_> = items.iter().map(Some).collect();
                return self.generic("tuple", &items);
            }
            TypeFact::Result(ok, err) => {
                return self.generic("result", &[ok.as_deref(), err.as_deref()]);
            }
            TypeFact::Record(named) => return self.named("record", named),
            TypeFact::Enum(named) => return self.named("enum", named),
            TypeFact::Flags(named) => return self.named("flags", named),
            TypeFact::Variant(named) => return self.named("variant", named),
            TypeFact::Handle(handle) => {
                let word = match handle.passing {
                    Passage::Lent => "borrow",
                    Passage::GivenAway | Passage::Given => "own",
                };
                return self.push(&format!("{word}<{}>", handle.resource));
            }
        };
        self.push(word);
    }

    fn generic(&mut self, word: &str, types: &[Option<&TypeFact>]) {
        self.push(word);
        self.push("<");
        for (index, ty) in types.iter().enumerate() {
            self.separate(index);
            match ty {
                Some(ty) => self.ty(ty),
                None => self.push("_"),
            }
        }
        self.push(">");
    }

    fn named(&mut self, word: &str, named: &NamedFact) {
        if let Some((_, name)) = named.name.as_ref().filter(|_| !self.whole) {
            return self.push(name);
        }
        self.push(word);
        self.push(" { ");
        for (index, MemberFact { name, ty, .. }) in named.members.iter().enumerate() {
            self.separate(index);
            self.push(name);
            if let Some(ty) = ty {
                self.push(": ");
                self.ty(ty);
            }
        }
        self.push(" }");
    }
}
