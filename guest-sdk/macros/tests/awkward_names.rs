//! A module whose names are keywords, names of the generator, or names of the standard library,
//! under the strictest lints that an author may set.
#![deny(unsafe_code, missing_docs, unreachable_pub, warnings, clippy::pedantic)]

/// Functions.
#[openprogram_guest::functions(package = "r-enum:self-type")]
pub mod r#type {
    #![allow(clippy::missing_errors_doc, reason = "the subject are names")]

    use std::collections::BTreeMap;

    /// The generator's own trait has this name.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Guest {
        /// A keyword of WIT.
        pub record: u8,
        /// A keyword of Rust.
        pub r#match: bool,
        secret: Vec<Ok>,
    }

    /// A name of the standard library.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Box {
        /// No value.
        None,
        /// A value.
        Some(Guest),
        /// A nested value.
        HTTPServer(Option<Option<Guest>>),
    }

    /// Another one, without derives that would allow copies.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Ok {
        /// A keyword of Rust.
        Super,
        /// A keyword of WIT.
        Func,
    }

    /// An error without any derive.
    pub struct Error {
        /// Any text.
        pub r#fn: String,
    }

    /// Gives everything back.
    pub fn r#use(
        import: Box,
        r#fn: BTreeMap<String, Guest>,
        self_: Vec<(Guest, Result<Ok, Ok>)>,
    ) -> Result<Vec<Box>, Error> {
        let mut all = vec![import];
        all.extend(r#fn.into_values().map(Box::Some));
        all.extend(
            self_
                .into_iter()
                .map(|(guest, _)| Box::HTTPServer(Some(Some(guest)))),
        );
        if all.len() > 9 {
            Err(Error {
                r#fn: "too many".to_owned(),
            })
        } else {
            Ok(all)
        }
    }

    /// Has the name of a method of the metadata.
    #[must_use]
    pub fn describe(mut export: String) -> String {
        export.push('!');
        export
    }

    /// Has the name of a function of the C library.
    pub fn free() {}

    /// Makes a guest, which has a private field.
    pub(crate) fn guest() -> Guest {
        Guest {
            record: 1,
            r#match: true,
            secret: vec![Ok::Super],
        }
    }
}

#[test]
fn such_a_module_runs_natively() {
    use openprogram_guest::ExportedFunction as _;

    let all = r#type::r#use(
        r#type::Box::None,
        [("a".to_owned(), r#type::guest())].into(),
        vec![],
    );
    assert_eq!(
        all.ok(),
        Some(vec![r#type::Box::None, r#type::Box::Some(r#type::guest())])
    );
    assert_eq!(r#type::describe("free".to_owned()), "free!");
    r#type::free();
    assert_eq!(<r#type::r#use>::NAME, "r-enum:self-type/type.use");
}
