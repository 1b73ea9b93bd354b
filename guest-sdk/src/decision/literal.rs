//! Menus and schemas written as literals: [`menu!`](crate::menu) and [`schema!`](crate::schema).

use serde_json::{Value, json};

/// Writes a menu as a literal: `name: option`, with doc comments as descriptions.
///
/// An option is `fn PATH` (a function of this component), `schema { … }` as in
/// [`schema!`](crate::schema), `type TYPE` (the fields of a type), a closure of one typed argument
/// or none, or any expression, which is a value. Names are identifiers or texts. Without a name of
/// its own, `fn PATH` has that of the function, and a text is the name and the value.
///
/// ```no_run
/// # #[openprogram_guest::functions(package = "example:desk")]
/// # pub mod desk {
/// use openprogram_guest::{Failure, Json, Runtime, decision, json, menu};
///
/// /// Produce a plan.
/// #[derive(decision::Schema)]
/// struct Plan {
///     steps: Vec<String>,
/// }
///
/// pub fn route(message: String, runtime: &Runtime) -> Result<Json, Failure> {
///     let mut notes = Vec::new();
///     let menu = menu! {
///         fn look_up,
///         "skip",
///         /// Pick when stuck.
///         abort: json!({"signal": "abort"}),
///         /// Answer in a few words.
///         answer: schema { text: String, tone: one_of ["warm", "dry"] },
///         plan: type Plan,
///         /// Write something down.
///         note: |plan: Plan| {
///             notes.extend(plan.steps);
///             Ok(notes.len())
///         },
///     };
///     decision::make(&message, &menu.runtime(runtime).exit())
/// }
///
/// /// Looks something up.
/// pub fn look_up(word: String) -> String {
///     word
/// }
/// # }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! menu {
    ($($options:tt)*) => {
        $crate::__menu!(($crate::decision::Menu::new()) [] $($options)*)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __menu {
    (($menu:expr) []) => { $menu };
    (($menu:expr) [$($doc:literal)*] #[doc = $more:literal] $($rest:tt)*) => {
        $crate::__menu!(($menu) [$($doc)* $more] $($rest)*)
    };
    (($menu:expr) [$($doc:literal)*] $name:tt : fn $path:path $(, $($rest:tt)*)?) => {
        $crate::__menu!(($menu.function_described::<$path>($crate::__name!($name), &$crate::decision::private::described(&[$($doc),*]))) [] $($($rest)*)?)
    };
    (($menu:expr) [$($doc:literal)*] $name:tt : schema { $($fields:tt)* } $(, $($rest:tt)*)?) => {
        $crate::__menu!(($menu.schema_described($crate::__name!($name), $crate::schema!($($fields)*), &$crate::decision::private::described(&[$($doc),*]))) [] $($($rest)*)?)
    };
    (($menu:expr) [$($doc:literal)*] $name:tt : type $type:ty $(, $($rest:tt)*)?) => {
        $crate::__menu!(($menu.fields_described::<$type>($crate::__name!($name), &$crate::decision::private::described(&[$($doc),*]))) [] $($($rest)*)?)
    };
    (($menu:expr) [$($doc:literal)*] $name:tt : || $run:expr $(, $($rest:tt)*)?) => {
        $crate::__menu!(($menu.closure_described($crate::__name!($name), &$crate::decision::private::described(&[$($doc),*]), |_: ()| $run)) [] $($($rest)*)?)
    };
    (($menu:expr) [$($doc:literal)*] $name:tt : |$argument:ident : $type:ty| $run:expr $(, $($rest:tt)*)?) => {
        $crate::__menu!(($menu.closure_described($crate::__name!($name), &$crate::decision::private::described(&[$($doc),*]), |$argument: $type| $run)) [] $($($rest)*)?)
    };
    (($menu:expr) [$($doc:literal)*] $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $crate::__menu!(($menu.value_described($crate::__name!($name), $value, &$crate::decision::private::described(&[$($doc),*]))) [] $($($rest)*)?)
    };
    (($menu:expr) [$($doc:literal)*] fn $path:path $(, $($rest:tt)*)?) => {
        $crate::__menu!(
            ($menu.function_described::<$path>(
                $crate::decision::private::last_segment(::core::stringify!($path)),
                &$crate::decision::private::described(&[$($doc),*]),
            ))
            [] $($($rest)*)?
        )
    };
    (($menu:expr) [$($doc:literal)*] $name:literal $(, $($rest:tt)*)?) => {
        $crate::__menu!(
            ($menu.value_described(
                $name,
                $name,
                &$crate::decision::private::described(&[$($doc),*]),
            ))
            [] $($($rest)*)?
        )
    };
}

/// Writes the fields of an option as a literal: `name: type`, with doc comments as descriptions.
///
/// A type is a type of Rust that has [`Schema`](trait@crate::decision::Schema), a text (a described
/// string), `[TYPE]` (a list), `{ name: type, … }` (an object), or `one_of [VALUE, …]`. Unlike in
/// JSON, an object is an object whatever its fields are called.
///
/// ```
/// use openprogram_guest::{json, schema};
///
/// let plan = schema! {
///     /// What to do, in order.
///     steps: [{ action: String, effort: Option<u8> }],
///     rationale: "Why this way.",
///     mood: one_of ["calm", "tense"],
/// };
/// assert_eq!(plan, json!({
///     "steps": {
///         "items": {"fields": {
///             "action": {"type": "str"},
///             "effort": {"$t": "option", "of": {"type": "u8"}},
///         }},
///         "description": "What to do, in order.",
///     },
///     "rationale": {"type": "str", "description": "Why this way."},
///     "mood": {"type": "str", "options": ["calm", "tense"]},
/// }));
/// ```
#[macro_export]
macro_rules! schema {
    ($($fields:tt)*) => {
        $crate::__fields!([] [] $($fields)*)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __fields {
    ([$($done:tt)*] []) => {{
        let fields: ::std::vec::Vec<(&str, $crate::Value)> = ::std::vec![$($done)*];
        let fields = fields.into_iter().map(|(name, field)| (name.to_owned(), field));
        $crate::Value::Object(fields.collect())
    }};
    ([$($done:tt)*] [$($doc:literal)*] #[doc = $more:literal] $($rest:tt)*) => {
        $crate::__fields!([$($done)*] [$($doc)* $more] $($rest)*)
    };
    ([$($done:tt)*] [$($doc:literal)*] $name:tt : one_of [$($value:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::__fields!([$($done)* ($crate::__name!($name), $crate::decision::private::field(
            $crate::decision::private::one_of($crate::json!([$($value),*])), &$crate::decision::private::described(&[$($doc),*]), ::core::option::Option::None,
        )),] [] $($($rest)*)?)
    };
    ([$($done:tt)*] [$($doc:literal)*] $name:tt : $type:tt $(, $($rest:tt)*)?) => {
        $crate::__fields!([$($done)* ($crate::__name!($name), $crate::decision::private::field(
            $crate::__type!($type), &$crate::decision::private::described(&[$($doc),*]), ::core::option::Option::None,
        )),] [] $($($rest)*)?)
    };
    ([$($done:tt)*] [$($doc:literal)*] $name:tt : $type:ty $(, $($rest:tt)*)?) => {
        $crate::__fields!([$($done)* ($crate::__name!($name), $crate::decision::private::field(
            <$type as $crate::decision::Schema>::schema(), &$crate::decision::private::described(&[$($doc),*]), ::core::option::Option::None,
        )),] [] $($($rest)*)?)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __type {
    ({ $($fields:tt)* }) => { $crate::json!({"fields": $crate::schema!($($fields)*)}) };
    ([]) => { ::core::compile_error!("a list has exactly one item as template, not none") };
    ([one_of [$($value:expr),* $(,)?]]) => {
        $crate::json!({"items": $crate::decision::private::one_of($crate::json!([$($value),*]))})
    };
    ([$item:tt]) => { $crate::json!({"items": $crate::__type!($item)}) };
    ([$item:ty]) => {
        $crate::json!({"items": <$item as $crate::decision::Schema>::schema()})
    };
    ([$($items:tt)*]) => {
        ::core::compile_error!("a list has exactly one item as template, not several")
    };
    ($text:literal) => { $crate::json!({"type": "str", "description": $text}) };
    ($type:ty) => { <$type as $crate::decision::Schema>::schema() };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __name {
    ($name:ident) => {
        ::core::stringify!($name).trim_start_matches("r#")
    };
    ($name:literal) => {
        $name
    };
}

/// The text of doc comments.
#[doc(hidden)]
#[must_use]
pub fn described(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    lines.join("\n").trim().to_owned()
}

/// The name of a function by its path.
#[doc(hidden)]
#[must_use]
pub fn last_segment(path: &str) -> &str {
    let name = path.rsplit("::").next().unwrap_or(path).trim();
    name.strip_prefix("r#").unwrap_or(name)
}

/// A field with these values; its type is that of the first one.
#[doc(hidden)]
#[must_use]
pub fn one_of(values: Value) -> Value {
    let name = match values.get(0) {
        Some(Value::Bool(_)) => "bool",
        Some(Value::Number(number)) if number.is_f64() => "float",
        Some(Value::Number(_)) => "int",
        _ => "str",
    };
    json!({"type": name, "options": values})
}
