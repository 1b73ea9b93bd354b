//! Queries: an expression over a value, and as much of the result as an answer takes.

use jmespath::{ErrorReason, Rcvar, Variable};
use openprogram_guest::{Failure, Json};

use crate::query::Answer;
use crate::read::Source;

/// The most bytes of an expression: more than people write, and within the depth that the parser of
/// expressions takes.
const QUERY_BYTES_MAX: usize = 1_000;
/// The deepest brackets of an expression, for the same reason.
const QUERY_DEPTH_MAX: usize = 30;
/// The most digits of a number outside of literals: an index, which is far below the most.
const INDEX_DIGITS_MAX: usize = 9;
/// The most items that are given at once.
const ITEMS_MAX: u32 = 1_000;
/// The most bytes of a result. Answers to models are cut at 30,000.
const RESULT_BYTES_MAX: usize = 24_000;

/// Which items of a list are wanted.
pub(crate) struct Window {
    pub(crate) offset: u32,
    pub(crate) limit: u32,
}

/// Queries data.
///
/// # Errors
/// Where the expression is none, the data cannot be read, or the result is too long.
pub(crate) fn query_data(query: &str, source: Source, window: &Window) -> Result<Answer, Failure> {
    check(query)?;
    let wrong = |error: &jmespath::JmespathError| {
        let message = format!("{} at character {}", reason(error), error.column + 1);
        Failure::invalid_argument("query", message)
    };
    let expression = jmespath::compile(query).map_err(|error| wrong(&error))?;
    let data = source.read()?;
    let result = expression.search(data).map_err(|error| wrong(&error))?;
    answer(&result, window)
}

fn reason(error: &jmespath::JmespathError) -> String {
    match &error.reason {
        ErrorReason::Parse(why) => format!("the query is no JMESPath: {why}"),
        ErrorReason::Runtime(why) => format!("the query does not fit the data: {why}"),
    }
}

/// Refuses expressions that are too long or too deep, before anything reads them.
fn check(query: &str) -> Result<(), Failure> {
    let wrong = |message: String| Err(Failure::invalid_argument("query", message));
    if query.trim().is_empty() {
        return wrong("the query is empty; `@` gives everything".to_owned());
    }
    if query.len() > QUERY_BYTES_MAX {
        return wrong(format!("a query has at most {QUERY_BYTES_MAX} bytes"));
    }
    let (mut depth, mut n_digits, mut n_prefixes) = (0_usize, 0, 0);
    let mut quote = None;
    let mut is_escaped = false;
    for c in query.chars() {
        if let Some(end) = quote {
            if is_escaped {
                is_escaped = false;
            } else if c == '\\' {
                is_escaped = true;
            } else if c == end {
                quote = None;
            }
            continue;
        }
        n_digits = if c.is_ascii_digit() { n_digits + 1 } else { 0 };
        n_prefixes = match c {
            '!' | '&' => n_prefixes + 1,
            c if c.is_whitespace() => n_prefixes,
            _ => 0,
        };
        match c {
            '"' | '\'' | '`' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth.max(n_prefixes) > QUERY_DEPTH_MAX {
            return wrong(format!(
                "a query is nested at most {QUERY_DEPTH_MAX} levels deep"
            ));
        }
        if n_digits > INDEX_DIGITS_MAX {
            return wrong(format!(
                "an index has at most {INDEX_DIGITS_MAX} digits; other numbers are written between \
                 backticks"
            ));
        }
    }
    Ok(())
}

fn answer(result: &Rcvar, window: &Window) -> Result<Answer, Failure> {
    let Some(items) = result.as_array() else {
        return Ok(Answer {
            value: written(result)?,
            items: None,
            more: None,
        });
    };
    let (offset, limit) = (
        window.offset as usize,
        window.limit.clamp(1, ITEMS_MAX) as usize,
    );
    if offset > 0 && offset >= items.len() {
        let message = format!(
            "the result has {} items, and `offset` begins at 0",
            items.len()
        );
        return Err(Failure::invalid_argument("offset", message));
    }
    let mut shown = Vec::new();
    let mut n_bytes = 0;
    for item in items.iter().skip(offset).take(limit) {
        let text = written(item)?;
        n_bytes += text.as_str().len() + 1;
        if n_bytes > RESULT_BYTES_MAX {
            break;
        }
        shown.push(text.as_str().to_owned());
    }
    let end = offset + shown.len();
    let more = (end < items.len()).then(|| {
        format!(
            "{} of {} items are shown: go on with offset {end}, or select less",
            shown.len(),
            items.len()
        )
    });
    Ok(Answer {
        value: Json::from_text(format!("[{}]", shown.join(",")))?,
        items: Some(u32::try_from(items.len()).unwrap_or(u32::MAX)),
        more,
    })
}

/// A value as JSON within the bounds of an answer.
fn written(value: &Variable) -> Result<Json, Failure> {
    if let Variable::Expref(_) = value {
        let message = "an expression with `&` is an argument of a function and no result";
        return Err(Failure::invalid_argument("query", message));
    }
    let text = Json::from_value(value)?;
    let n_bytes = text.as_str().len();
    if n_bytes > RESULT_BYTES_MAX {
        let message = format!(
            "the result, or an item of it, has {n_bytes} bytes and at most {RESULT_BYTES_MAX} are \
             given; select less: `keys(@)` gives the names of an object, `length(@)` counts, \
             `[0:10]` takes the first ten items"
        );
        return Err(Failure::new("function-failed", message));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Format;

    const SHOP: &str = r#"{"items": [
        {"name": "tyre", "price": 15, "left": 14, "tags": ["round"]},
        {"name": "bell", "price": 3.3, "left": 0},
        {"name": "chain", "price": 22.5, "left": 2, "id": 12345678901234567890}
    ]}"#;

    fn answered(query: &str, text: &str, window: &Window) -> String {
        let source = Source {
            text: Some(text.to_owned()),
            path: None,
            format: Format::Auto,
        };
        match query_data(query, source, window) {
            Ok(answer) => {
                let more = answer.more.map(|more| format!(" ({more})"));
                format!("{}{}", answer.value.as_str(), more.unwrap_or_default())
            }
            Err(failure) => failure.message().to_owned(),
        }
    }

    fn of_shop(query: &str) -> String {
        let window = Window {
            offset: 0,
            limit: 100,
        };
        answered(query, SHOP, &window)
    }

    #[test]
    fn queries_select_sort_reshape_and_count() {
        for (query, expected) in [
            ("items[0].name", r#""tyre""#),
            ("items[?left < `5`].name", r#"["bell","chain"]"#),
            ("sort_by(items, &price)[-1].name", r#""chain""#),
            (
                "items[].{who: name, cheap: price < `10`} | [1]",
                r#"{"cheap":true,"who":"bell"}"#,
            ),
            ("sum(items[].price)", "40.8"),
            ("length(items)", "3"),
            ("keys(@)", r#"["items"]"#),
            ("max_by(items, &left).name", r#""tyre""#),
            ("items[?contains(name, 'ai')].price | [0]", "22.5"),
            ("items[*].tags[]", r#"["round"]"#),
            ("items[2].id", "12345678901234567890"),
            ("nothing", "null"),
            ("items[?name == 'bell'] | [0].left || 'none'", "0"),
            ("items[::-1].name", r#"["chain","bell","tyre"]"#),
        ] {
            assert_eq!(of_shop(query), expected, "{query}");
        }
    }

    #[test]
    fn what_is_no_query_is_told_with_its_place() {
        for (query, words) in [
            ("", "`@` gives everything"),
            ("items[", "the query is no JMESPath"),
            ("items[?a = `1`]", "the query is no JMESPath"),
            ("nowhere(@)", "nowhere"),
            ("sum(items)", "does not fit the data"),
            ("length(`1`)", "does not fit the data"),
            ("&items", "an argument of a function"),
            ("items[::0]", "does not fit the data"),
            ("items[1::2147483647]", "at most 9 digits"),
            ("items[99999999999999999999]", "at most 9 digits"),
        ] {
            let told = of_shop(query);
            assert!(told.contains(words), "{query}: {told}");
        }
        assert!(of_shop("items[?a == b").contains("at character"));
    }

    #[test]
    fn deep_and_long_queries_are_refused_before_they_are_read() {
        for query in [
            "(".repeat(900),
            "!".repeat(900),
            "& ".repeat(450),
            "[[".repeat(400),
            "a.{b: ".repeat(150),
            "a".repeat(1_001),
        ] {
            let told = of_shop(&query);
            assert!(told.starts_with("a query "), "{told}");
        }
        // What stands in quotes is no depth.
        assert_eq!(
            of_shop("'((((((((((((((((((((((((((((((((((((((((('"),
            format!("\"{}\"", "(".repeat(41))
        );
        assert_eq!(of_shop("`12345678901234567890`"), "12345678901234567890");
    }

    #[test]
    fn a_long_list_is_given_part_by_part() {
        let list: Vec<String> = (0..250).map(|n| n.to_string()).collect();
        let text = format!("[{}]", list.join(","));
        let window = |offset, limit| Window { offset, limit };
        for (offset, limit, expected) in [
            (
                0,
                2,
                "[0,1] (2 of 250 items are shown: go on with offset 2, or select less)",
            ),
            (248, 9, "[248,249]"),
            (250, 9, "the result has 250 items, and `offset` begins at 0"),
        ] {
            assert_eq!(answered("@", &text, &window(offset, limit)), expected);
        }
        let wide = format!(
            "[{}]",
            vec![format!("\"{}\"", "x".repeat(10_000)); 5].join(",")
        );
        let told = answered("@", &wide, &window(0, 100));
        assert!(told.ends_with("(2 of 5 items are shown: go on with offset 2, or select less)"));
        let huge = format!("{{\"a\": \"{}\"}}", "x".repeat(30_000));
        let told = answered("@", &huge, &window(0, 100));
        assert!(told.contains("has 30008 bytes and at most 24000"), "{told}");
        assert_eq!(answered("keys(@)", &huge, &window(0, 1)), "[\"a\"]");
        assert_eq!(answered("@", "[]", &window(0, 1)), "[]");
    }
}
