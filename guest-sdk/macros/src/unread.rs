//! A module that is no Rust yet: what is left of it, so that its author reads of the mistake alone.
//!
//! The compiler has told the mistake before this macro runs, and tells nothing twice. What only this
//! macro understands would each be one more error, so it is taken out by its tokens.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;

/// The module without what the compiler does not know, and with a type for each function, by which
/// menus name it.
pub(crate) fn without_settings(item: TokenStream) -> TokenStream {
    let tokens = item.into_iter().map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            let items = stripped(group.stream(), false);
            let markers = functions(group.stream());
            regrouped(&group, quote!(#items #markers))
        }
        other => other,
    });
    tokens.collect()
}

/// Tokens without `#[function(…)]`, and between the parentheses of parameters without any attribute.
fn stripped(tokens: TokenStream, is_inside_parentheses: bool) -> TokenStream {
    let mut kept = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
        let is_taken = is_hash
            && matches!(tokens.peek(), Some(TokenTree::Group(attribute))
                if attribute.delimiter() == Delimiter::Bracket
                    && (is_inside_parentheses || is_setting(attribute)));
        match token {
            _ if is_taken => drop(tokens.next()),
            TokenTree::Group(group) => {
                let is_inside = group.delimiter() == Delimiter::Parenthesis;
                let inner = stripped(group.stream(), is_inside);
                kept.extend([regrouped(&group, inner)]);
            }
            other => kept.extend([other]),
        }
    }
    kept
}

fn is_setting(attribute: &Group) -> bool {
    let first = attribute.stream().into_iter().next();
    matches!(first, Some(TokenTree::Ident(name)) if name == "function" || name == "param")
}

/// A type for each `pub fn`, like those that a readable module gets.
fn functions(items: TokenStream) -> TokenStream {
    let mut words: [Option<Ident>; 2] = [None, None];
    let mut markers = TokenStream::new();
    for token in items {
        let TokenTree::Ident(word) = token else {
            words = [None, None];
            continue;
        };
        if let [Some(visibility), Some(keyword)] = &words
            && visibility == "pub"
            && keyword == "fn"
        {
            markers.extend(quote! {
                #[doc(hidden)]
                #[allow(non_camel_case_types, dead_code, missing_docs, reason = "named like the function")]
                pub struct #word {}

                impl ::openprogram_guest::ExportedFunction for #word {
                    const NAME: &'static str = "";
                }
            });
        }
        words.rotate_left(1);
        words[1] = Some(word);
    }
    markers
}

fn regrouped(group: &Group, tokens: TokenStream) -> TokenTree {
    let mut new = Group::new(group.delimiter(), tokens);
    new.set_span(group.span());
    new.into()
}
