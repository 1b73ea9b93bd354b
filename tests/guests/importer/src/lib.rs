//! Imports functions of another component by their types, and looks at what comes back.

mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated code")]
    wit_bindgen::generate!({
        path: "wit",
        generate_all,
        additional_derives: [Clone, PartialEq],
    });
}

/// Imports.
#[openprogram_guest::functions(package = "test:importer")]
pub mod guest {
    use crate::bindings::test::every_type::echo;

    /// Sends values of many types there and back, and names those that did not come back as they were.
    pub fn changed() -> Vec<String> {
        let mut changed = Vec::new();
        let mut check = |name: &str, is_same: bool| {
            if !is_same {
                changed.push(name.to_owned());
            }
        };
        for value in [0, (1 << 53) + 1, u64::MAX] {
            check("u64", echo::echo_u64(value) == value);
        }
        for value in [i64::MIN, -1, i64::MAX] {
            check("s64", echo::echo_s64(value) == value);
        }
        for value in [-0.0, 0.1, f32::MIN_POSITIVE, f32::MAX, f32::NEG_INFINITY] {
            let is_same = echo::echo_f32(value).to_bits() == value.to_bits();
            check("f32", is_same);
        }
        for value in [-0.0, 0.1 + 0.2, 5e-324, f64::MAX, f64::INFINITY] {
            let is_same = echo::echo_f64(value).to_bits() == value.to_bits();
            check("f64", is_same);
        }
        check("NaN", echo::echo_f64(f64::NAN).is_nan());
        for value in ['\0', '"', '\u{10ffff}'] {
            check("char", echo::echo_char(value) == value);
        }
        for value in ["", "null", "{\"some\": null}", "\0\u{202e}\u{1f469}\n"] {
            check("string", echo::echo_string(value) == value);
        }
        let bytes: Vec<u8> = (0..=255).collect();
        check("bytes", echo::echo_bytes(&bytes) == bytes);
        for value in [None, Some(None), Some(Some(7))] {
            check("option", echo::echo_nested_option(value) == value);
        }
        let results = [Ok(()), Err(())];
        check("result", echo::echo_bare_result(&results) == results);
        check(
            "record",
            echo::echo_everything(&everything()) == everything(),
        );
        echo::nothing();
        changed
    }

    fn everything() -> echo::Everything {
        echo::Everything {
            flag: true,
            letter: 'x',
            text: "a\tb".to_owned(),
            bytes: vec![0, 255],
            list: vec![1, u32::MAX],
            nested: Some(None),
            pair: (9, String::new()),
            colour: echo::Colour::DarkBlue,
            shape: echo::Shape::Tagged(("t".to_owned(), Some(echo::Colour::HttpGreen))),
            corner: corner(None),
            map: [("b".to_owned(), -1), ("a".to_owned(), i64::MAX)].into(),
            outcome: Err("none".to_owned()),
            // As the host writes it: what crosses is the value, and not its spaces.
            any: "{\"b\":[1.50,null]}".to_owned(),
        }
    }

    fn corner(of: Option<&str>) -> echo::Corner {
        echo::Corner {
            x: i32::MIN,
            y: 0,
            type_: of.map(str::to_owned),
        }
    }

    /// Lets the other component fail in the way that is named, and tells with which error of its own.
    pub fn fail(how: String) -> String {
        let refusal = match how.as_str() {
            "asked" => echo::Refusal::Asked,
            "because" => echo::Refusal::Because("of this".to_owned()),
            "at" => echo::Refusal::At(corner(Some("t"))),
            "failure" => return format!("{:?}", echo::fail_with_failure("denied")),
            "list" => return format!("{:?}", echo::echo_or_fail(&[])),
            _ => return format!("{:?}", echo::fail(None, 3)),
        };
        format!("{:?}", echo::fail(Some(&refusal), 3))
    }

    /// Passes on what the other component hides from models, too.
    pub fn describe(secret: String, style: String) -> Vec<String> {
        echo::described(&style, None, "topic", "title", "function", &secret, 9)
    }

    /// Does not need the other component.
    pub fn alone() -> String {
        "alone".to_owned()
    }
}
