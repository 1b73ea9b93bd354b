//! Collects errors, so that an author sees all of them at once.
//!
//! Every error carries the span of the token that caused it.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The errors found so far, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// Reports a message at one token.
    pub(crate) fn at(&mut self, span: Span, message: impl Display) {
        self.0.push(syn::Error::new(span, message));
    }

    /// Reports a message at everything from the first to the last token of `tokens`.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    /// Keeps the value of a result, or its error.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The errors as items that make the compiler report them.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0
            .into_iter()
            .map(syn::Error::into_compile_error)
            .collect()
    }

    /// The messages alone.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }
}
