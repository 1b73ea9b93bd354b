//! Texts as values: what a text is written in, and what it says.

use jmespath::{Rcvar, Variable};
use openprogram_guest::{Failure, Value, json};

use crate::query::Format;

/// Where the data is.
pub(crate) struct Source {
    pub(crate) text: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) format: Format,
}

impl Source {
    /// Reads the data.
    ///
    /// # Errors
    /// Where there is none, or it is not what it should be.
    pub(crate) fn read(self) -> Result<Rcvar, Failure> {
        let (text, format) = match (self.text, self.path) {
            (Some(text), None) => (text, self.format),
            (None, Some(path)) => {
                let format = match self.format {
                    Format::Auto => by_name(&path),
                    format => format,
                };
                (crate::file::text(&path)?, format)
            }
            (Some(_), Some(_)) => {
                let message = "give `text` or `path`, not both";
                return Err(Failure::invalid_argument("text", message));
            }
            (None, None) => {
                let message = "give the data as `text`, or name a file by `path`";
                return Err(Failure::invalid_argument("text", message));
            }
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        value(text, format).map(Rcvar::new)
    }
}

/// What a file is written in, by its name.
fn by_name(path: &str) -> Format {
    let ending = path
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("json" | "geojson") => Format::Json,
        Some("jsonl" | "ndjson") => Format::JsonLines,
        Some("csv") => Format::Csv,
        Some("tsv") => Format::Tsv,
        Some("toml") => Format::Toml,
        _ => Format::Auto,
    }
}

/// The value that a text says.
fn value(text: &str, format: Format) -> Result<Variable, Failure> {
    let wrong = |what: &str, why: String| {
        Failure::new(
            "function-failed",
            format!("the data is no {what}: {why}; `format` says what it is written in"),
        )
    };
    match format {
        Format::Json => Variable::from_json(text).map_err(|why| wrong("JSON", why)),
        Format::JsonLines => json_lines(text).map_err(|why| wrong("JSON lines", why)),
        Format::Csv => records(text, b',').map_err(|why| wrong("CSV", why)),
        Format::Tsv => records(text, b'\t').map_err(|why| wrong("TSV", why)),
        Format::Toml => toml(text).map_err(|why| wrong("TOML", why)),
        Format::Auto => guessed(text),
    }
}

fn guessed(text: &str) -> Result<Variable, Failure> {
    match Variable::from_json(text) {
        Ok(value) => Ok(value),
        Err(why) => json_lines(text).map_err(|_| {
            let message = format!(
                "the data is no JSON ({why}) and no JSON lines; set `format` to `csv`, `tsv` or \
                 `toml` if it is that"
            );
            Failure::new("function-failed", message)
        }),
    }
}

fn json_lines(text: &str) -> Result<Variable, String> {
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            let value = Variable::from_json(line);
            let value = value.map_err(|why| format!("line {}: {why}", index + 1))?;
            values.push(Rcvar::new(value));
        }
    }
    Ok(Variable::Array(values))
}

/// Records as objects. A field that is written as JSON writes numbers is a number.
fn records(text: &str, delimiter: u8) -> Result<Variable, String> {
    let mut builder = csv::ReaderBuilder::new();
    let mut reader = builder.delimiter(delimiter).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut records = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let fields = names.iter().zip(&record).map(|(name, field)| {
            let name = name.trim().to_owned();
            (name, Rcvar::new(self::field(field)))
        });
        records.push(Rcvar::new(Variable::Object(fields.collect())));
    }
    Ok(Variable::Array(records))
}

fn field(text: &str) -> Variable {
    let may_be_number =
        text.len() < 40 && text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    match Variable::from_json(text) {
        Ok(number @ Variable::Number(_)) if may_be_number => number,
        _ => Variable::String(text.to_owned()),
    }
}

fn toml(text: &str) -> Result<Variable, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error
            .span()
            .map(|span| text[..span.start].matches('\n').count() + 1);
        let line = line
            .map(|line| format!("line {line}: "))
            .unwrap_or_default();
        format!("{line}{}", error.message())
    })?;
    let value = json_of(toml::Value::Table(table));
    Variable::from_serializable(value).map_err(|error| error.to_string())
}

/// Times of TOML are texts in JSON.
fn json_of(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => json!(number),
        toml::Value::Float(number) => json!(number),
        toml::Value::Boolean(is) => Value::Bool(is),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(json_of).collect(),
        toml::Value::Table(table) => {
            let fields = table
                .into_iter()
                .map(|(name, value)| (name, json_of(value)));
            Value::Object(fields.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: Format) -> String {
        match value(text, format) {
            Ok(value) => value.to_string(),
            Err(failure) => failure.message().to_owned(),
        }
    }

    #[test]
    fn every_format_is_read() {
        for (text, format, expected) in [
            (
                r#" {"a": [1, 2.5, "x", null]} "#,
                Format::Json,
                r#"{"a":[1,2.5,"x",null]}"#,
            ),
            ("{\"a\": 1}\n\n[2]\n", Format::JsonLines, r#"[{"a":1},[2]]"#),
            (
                "name, price\nred \"bell\",9.90\n\"a, b\",007\n,-1e3\n",
                Format::Csv,
                r#"[{"name":"red \"bell\"","price":9.9},{"name":"a, b","price":"007"},{"name":"","price":-1000.0}]"#,
            ),
            ("a\tb\n1\ttrue\n", Format::Tsv, r#"[{"a":1,"b":"true"}]"#),
            (
                "a = 1\n[b]\nwhen = 2026-12-01T10:00:00Z\nc = [1.5, true]\n",
                Format::Toml,
                r#"{"a":1,"b":{"c":[1.5,true],"when":"2026-12-01T10:00:00Z"}}"#,
            ),
            ("[1]", Format::Auto, "[1]"),
            (
                "{\"a\": 1}\n{\"a\": 2}",
                Format::Auto,
                r#"[{"a":1},{"a":2}]"#,
            ),
        ] {
            assert_eq!(read(text, format), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, format, words) in [
            (
                "{\"a\": }",
                Format::Json,
                "no JSON: expected value at line 1 column 7",
            ),
            ("1\n{", Format::JsonLines, "line 2: EOF while parsing"),
            ("a,b\n1\n", Format::Csv, "found record with 1 fields"),
            ("a = 1\nb = =", Format::Toml, "no TOML: line 2: "),
            ("a,b\n1,2", Format::Auto, "set `format` to `csv`"),
            (&"[".repeat(100_000), Format::Json, "recursion limit"),
            (
                &format!("a = {}", "[".repeat(100_000)),
                Format::Toml,
                "no TOML",
            ),
            (
                &format!("{}1{}", "[".repeat(300), "]".repeat(300)),
                Format::Auto,
                "recursion limit",
            ),
        ] {
            let told = read(text, format);
            assert!(told.contains(words), "{told}");
            assert!(told.len() < 400, "{told}");
        }
    }

    #[test]
    fn names_say_what_files_are_written_in() {
        for (path, expected) in [
            ("a/b.json", Format::Json),
            ("a.b/c.JSONL", Format::JsonLines),
            ("orders.csv", Format::Csv),
            ("Cargo.toml", Format::Toml),
            ("a.tsv", Format::Tsv),
            ("Cargo.lock", Format::Auto),
            ("README", Format::Auto),
        ] {
            assert_eq!(by_name(path), expected, "{path}");
        }
    }

    #[test]
    fn there_is_one_source() {
        let source = |text: Option<&str>, path: Option<&str>| Source {
            text: text.map(str::to_owned),
            path: path.map(str::to_owned),
            format: Format::Auto,
        };
        let both = source(Some("1"), Some("a.json")).read().unwrap_err();
        assert_eq!(both.message(), "give `text` or `path`, not both");
        let none = source(None, None).read().unwrap_err();
        assert!(none.message().starts_with("give the data"), "{none}");
        let marked = source(Some("\u{feff}[1]"), None).read().unwrap();
        assert_eq!(marked.to_string(), "[1]");
    }
}
