//! Gives values of every type that a function can have back as they came, and sets everything that
//! metadata can say at least once.

/// Echoes.
///
/// One function for each type.
#[openprogram_guest::functions(package = "test:every-type")]
pub mod echo {
    use std::collections::BTreeMap;

    use openprogram_guest::{Failure, Json, Runtime};

    /// An alias, which leaves no trace in WIT.
    type Pair<A, B = A> = (A, B);

    /// Types within types.
    type Nested = BTreeMap<String, Vec<Result<Option<(Corner, Json)>, Refusal>>>;

    /// Two colours and what is between.
    ///
    /// A second paragraph, which is not part of the summary.
    #[derive(Clone, Copy)]
    pub enum Colour {
        /// The colour of blood.
        Red,
        DarkBlue,
        /// Two words.
        /// Two lines.
        HTTPGreen,
    }

    /// A shape with what it needs.
    pub enum Shape {
        /// No extent.
        Point,
        /// By its radius.
        Circle(f64),
        /// By its corners.
        Polygon(Vec<Corner>),
        Tagged((String, Option<Colour>)),
    }

    /// A corner.
    pub struct Corner {
        /// To the right.
        pub x: i32,
        /// Up.
        pub y: i32,
        r#type: Option<String>,
    }

    /// Everything in one value.
    pub struct Everything {
        /// A yes or no.
        pub flag: bool,
        pub letter: char,
        pub text: String,
        pub bytes: Vec<u8>,
        pub list: Vec<u32>,
        pub nested: Option<Option<String>>,
        pub pair: (u8, String),
        pub colour: Colour,
        pub shape: Shape,
        pub corner: Corner,
        pub map: BTreeMap<String, i64>,
        pub outcome: Result<u32, String>,
        pub any: Json,
    }

    /// Why [`fail`] fails.
    pub enum Refusal {
        /// It was asked to.
        Asked,
        /// With a reason.
        Because(String),
        /// With a corner.
        At(Corner),
    }

    /// Gives a bool back.
    pub fn echo_bool(value: bool) -> bool {
        value
    }

    /// Gives an unsigned 8-bit integer back.
    pub fn echo_u8(value: u8) -> u8 {
        value
    }

    /// Gives an unsigned 16-bit integer back.
    pub fn echo_u16(value: u16) -> u16 {
        value
    }

    /// Gives an unsigned 32-bit integer back.
    pub fn echo_u32(value: u32) -> u32 {
        value
    }

    /// Gives an unsigned 64-bit integer back.
    pub fn echo_u64(value: u64) -> u64 {
        value
    }

    /// Gives a signed 8-bit integer back.
    pub fn echo_s8(value: i8) -> i8 {
        value
    }

    /// Gives a signed 16-bit integer back.
    pub fn echo_s16(value: i16) -> i16 {
        value
    }

    /// Gives a signed 32-bit integer back.
    pub fn echo_s32(value: i32) -> i32 {
        value
    }

    /// Gives a signed 64-bit integer back.
    pub fn echo_s64(value: i64) -> i64 {
        value
    }

    /// Gives a 32-bit float back.
    pub fn echo_f32(value: f32) -> f32 {
        value
    }

    /// Gives a 64-bit float back.
    pub fn echo_f64(value: f64) -> f64 {
        value
    }

    /// Gives a character back.
    pub fn echo_char(value: char) -> char {
        value
    }

    /// Gives a text back.
    pub fn echo_string(value: String) -> String {
        value
    }

    /// Gives a borrowed text back.
    pub fn echo_str(value: &str) -> String {
        value.to_owned()
    }

    /// Gives bytes back.
    pub fn echo_bytes(value: Vec<u8>) -> Vec<u8> {
        value
    }

    /// Gives a list back.
    pub fn echo_list(value: Vec<String>) -> Vec<String> {
        value
    }

    /// Gives an optional value back.
    pub fn echo_option(value: Option<u32>) -> Option<u32> {
        value
    }

    /// Gives one of three states back.
    pub fn echo_nested_option(value: Option<Option<u32>>) -> Option<Option<u32>> {
        value
    }

    /// Gives a tuple back.
    pub fn echo_tuple(value: (u32, String, bool)) -> (u32, String, bool) {
        value
    }

    /// Gives a pair back, which has an alias.
    pub fn echo_alias(value: Pair<u32>) -> Pair<u32> {
        value
    }

    /// Gives an enum back.
    pub fn echo_enum(value: Colour) -> Colour {
        value
    }

    /// Gives a variant back.
    pub fn echo_variant(value: Shape) -> Shape {
        value
    }

    /// Gives a record back.
    pub fn echo_record(value: Corner) -> Corner {
        value
    }

    /// Gives a record of everything back.
    pub fn echo_everything(value: Everything) -> Everything {
        value
    }

    /// Gives a list of records back.
    pub fn echo_records(value: Vec<Corner>) -> Vec<Corner> {
        value
    }

    /// Gives a result that is a value back.
    pub fn echo_result(value: Vec<Result<u32, String>>) -> Vec<Result<u32, String>> {
        value
    }

    /// Gives a result whose sides have no value back.
    pub fn echo_bare_result(value: Vec<Result<(), ()>>) -> Vec<Result<(), ()>> {
        value
    }

    /// Gives a map back.
    pub fn echo_map(value: BTreeMap<String, u32>) -> BTreeMap<String, u32> {
        value
    }

    /// Gives a map of records back.
    pub fn echo_map_of_records(value: BTreeMap<String, Corner>) -> BTreeMap<String, Corner> {
        value
    }

    /// Gives types within types back.
    pub fn echo_nested(value: Nested) -> Nested {
        value
    }

    /// Gives a list back, unless it is empty.
    pub fn echo_or_fail(value: Vec<Shape>) -> Result<Vec<Shape>, Refusal> {
        if value.is_empty() {
            Err(Refusal::Asked)
        } else {
            Ok(value)
        }
    }

    /// Gives any JSON value back.
    pub fn echo_json(value: Json) -> Json {
        value
    }

    /// Fails with an error of its own, or gives the number back.
    pub fn fail(
        /// How to fail; nothing for not at all.
        how: Option<Refusal>,
        number: u32,
    ) -> Result<u32, Refusal> {
        how.map_or(Ok(number), Err)
    }

    /// Fails with a failure of the contract, which holds the text as a detail.
    pub fn fail_with_failure(text: String) -> Result<(), Failure> {
        Err(Failure::invalid_argument(&text, "it was asked to"))
    }

    /// Takes nothing and gives nothing.
    pub fn nothing() {}

    /// Fills what is left out.
    ///
    /// Every parameter has a default, as JSON gives it.
    #[allow(clippy::too_many_arguments, reason = "one for each type")]
    pub fn defaults(
        #[param(default = true)] flag: bool,
        #[param(default = 'x')] letter: char,
        #[param(default = "text")] text: &str,
        #[param(default = -128)] small: i8,
        #[param(default = 18446744073709551615)] big: u64,
        #[param(default = 0.5)] share: f64,
        #[param(default = [1, 2])] bytes: Vec<u8>,
        #[param(default = "dark-blue")] colour: Colour,
        #[param(default = {"polygon": [{"x": 1, "y": -1}]})] shape: Shape,
        #[param(default = {"a": 1})] map: BTreeMap<String, i64>,
        #[param(default = [7, "seven"])] pair: (u8, String),
        #[param(default = null)] maybe: Option<String>,
        #[param(default = {"any": [null, 1.5]})] any: Json,
    ) -> Everything {
        Everything {
            flag,
            letter,
            text: text.to_owned(),
            bytes,
            list: vec![u32::from(small.unsigned_abs())],
            nested: Some(maybe),
            pair,
            colour,
            shape,
            corner: Corner {
                x: 0,
                y: 0,
                r#type: None,
            },
            map,
            outcome: if share < 1.0 {
                Ok(1)
            } else {
                Err(big.to_string())
            },
            any,
        }
    }

    /// Shows what metadata can say of parameters.
    #[function(
        system = "Be brief.",
        expose = "full",
        render_range(callers = 3, subcalls = 0)
    )]
    pub fn described(
        /// The style.
        ///
        /// Any of three.
        #[param(options = ["plain", "fancy", "none"], default = "plain")]
        style: &str,
        /// A colour, not all of them.
        #[param(options = ["red", "http_green"])]
        colour: Option<Colour>,
        /// What to write about.
        #[param(placeholder = "a \"quoted\" word", multiline)]
        topic: String,
        #[param(multiline = false)] title: String,
        /// A function by name.
        #[param(options_from = "functions")]
        function: String,
        /// Filled from the context.
        #[param(hidden)]
        secret: String,
        #[param(hidden, default = 3)] attempts: u32,
    ) -> Vec<String> {
        let colour = colour.map(|colour| format!("colour {}", colour as u8));
        let colour = colour.unwrap_or_default();
        vec![
            style.to_owned(),
            colour,
            topic,
            title,
            function,
            secret,
            attempts.to_string(),
        ]
    }

    /// Tells which runtimes were lent.
    pub fn runtimes(
        runtime: &Runtime,
        exec_runtime: Option<&Runtime>,
        review_runtime: Option<&Runtime>,
    ) -> Vec<String> {
        let model = |runtime: Option<&Runtime>| runtime.map(Runtime::model).unwrap_or_default();
        vec![runtime.model(), model(exec_runtime), model(review_runtime)]
    }

    /// Has a keyword of Rust and of WIT as names.
    pub fn r#match(r#type: u32, record: u32, func: u32) -> u32 {
        r#type.wrapping_add(record).wrapping_add(func)
    }
}

#[cfg(test)]
mod tests {
    use super::echo;

    #[test]
    fn functions_run_natively() {
        assert_eq!(echo::echo_u64(u64::MAX), u64::MAX);
        assert_eq!(echo::r#match(1, 2, 3), 6);
    }
}
