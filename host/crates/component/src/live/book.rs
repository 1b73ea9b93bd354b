//! The handles of one live instance: what each text stands for, and what became of those that are over.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use openprogram_core::schema::{HandlePassing, HandleType, shown_name};
use openprogram_core::text::one_line;
use wasmtime::component::ResourceAny;

use crate::convert::{Handles, Made};

/// Handles that are over whose end is remembered. Of older ones it is only known that they are not there.
const ENDED_MAX: usize = 1_000;
/// Characters of a handle as an error shows it.
const SHOWN_CHARS: usize = 80;

/// The handles of one instance.
#[derive(Default)]
pub(super) struct Book {
    handles: HashMap<String, Kept>,
    ended: HashMap<String, End>,
    /// Those that ended, the oldest first.
    order: VecDeque<String>,
}

struct Kept {
    ty: Arc<HandleType>,
    resource: ResourceAny,
}

/// Why a handle is over.
#[derive(Clone)]
pub(super) enum End {
    /// Somebody released it.
    Released,
    /// A function of this name took it for good.
    GivenAway(Arc<str>),
    /// The instance is gone, for this reason.
    Instance(Arc<str>),
}

impl Book {
    /// How many handles there are.
    pub(super) fn len(&self) -> usize {
        self.handles.len()
    }

    pub(super) fn has(&self, text: &str) -> bool {
        self.handles.contains_key(text) || self.ended.contains_key(text)
    }

    pub(super) fn add(&mut self, made: Made) {
        let kept = Kept {
            ty: made.ty,
            resource: made.resource,
        };
        self.handles.insert(made.text, kept);
    }

    /// Ends one handle.
    pub(super) fn end(&mut self, text: &str, end: End) {
        if self.handles.remove(text).is_some() {
            self.remember(text.to_owned(), end);
        }
    }

    /// Ends all handles: the instance is gone.
    pub(super) fn end_all(&mut self, reason: &str) {
        let reason: Arc<str> = reason.into();
        for (text, _) in std::mem::take(&mut self.handles) {
            self.remember(text, End::Instance(Arc::clone(&reason)));
        }
    }

    fn remember(&mut self, text: String, end: End) {
        if self.order.len() == ENDED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        self.order.push_back(text.clone());
        self.ended.insert(text, end);
    }

    fn find(&self, text: &str, wanted: &HandleType) -> Result<ResourceAny, String> {
        let what = shown_name(&wanted.resource);
        let another = match wanted.makers.first() {
            Some(maker) => format!("; `{maker}` gives another one"),
            None => String::new(),
        };
        let shown = one_line(text, SHOWN_CHARS);
        if let Some(kept) = self.handles.get(text) {
            if kept.ty.resource == wanted.resource && kept.ty.interface == wanted.interface {
                return Ok(kept.resource);
            }
            let found = shown_name(&kept.ty.resource);
            return Err(format!(
                "`{shown}` is a handle of a `{found}`, and one of a `{what}` is needed{another}"
            ));
        }
        Err(match self.ended.get(text) {
            None => format!(
                "`{shown}` is no handle of a `{what}` of this session: it was never given, or by a \
                 program that has ended since{another}"
            ),
            Some(End::Released) => format!("`{shown}` was released{another}"),
            Some(End::GivenAway(function)) => {
                format!("`{shown}` was given away to `{function}`{another}")
            }
            Some(End::Instance(reason)) => format!(
                "the instance that held `{shown}` has ended, with everything in it: {reason}{another}"
            ),
        })
    }
}

/// The handles of a book for the arguments of one call.
pub(super) struct Given<'a> {
    book: &'a Book,
    taken: RefCell<Taken>,
}

/// The handles that a call takes.
#[derive(Default)]
pub(super) struct Taken {
    /// Those that it is lent.
    lent: Vec<String>,
    /// Those that it takes for good.
    pub(super) for_good: Vec<String>,
    /// One that is not in the book at all.
    pub(super) unknown: Option<String>,
}

impl<'a> Given<'a> {
    pub(super) fn of(book: &'a Book) -> Self {
        let taken = RefCell::default();
        Self { book, taken }
    }

    pub(super) fn taken(self) -> Taken {
        self.taken.into_inner()
    }
}

impl Handles for Given<'_> {
    fn find(&self, text: &str, ty: &HandleType) -> Result<ResourceAny, String> {
        let mut taken = self.taken.borrow_mut();
        if !self.book.has(text) {
            taken.unknown = Some(text.to_owned());
        }
        let resource = self.book.find(text, ty)?;
        let is_lent = ty.passing == HandlePassing::Lent;
        let has = |all: &[String]| all.iter().any(|other| other == text);
        if has(&taken.for_good) || (!is_lent && has(&taken.lent)) {
            let shown = one_line(text, SHOWN_CHARS);
            return Err(format!(
                "the call takes `{shown}` for good, and is given it a second time"
            ));
        }
        let list = match is_lent {
            true => &mut taken.lent,
            false => &mut taken.for_good,
        };
        list.push(text.to_owned());
        Ok(resource)
    }
}
