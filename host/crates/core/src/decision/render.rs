//! The menu as text: what a model reads to make its pick.
//!
//! For each option its signature, its description, a line for each argument, and an example call.
//! Hidden and injected parameters never appear. The same menu gives the same bytes.

use std::fmt::Write as _;

use super::example::{example, one_line};
use super::menu::Menu;
use super::option::{MenuOption, Payload};
use super::words::{Facts, clipped, one_paragraph, signature_type};
use crate::schema::{Case, Field, Member, Type};
use crate::{Json, JsonObject};

/// How many characters of the description of an option a menu shows. What is longer is cut, and
/// ends in `… [cut]`.
pub const OPTION_TEXT_CHARS_MAX: usize = 2_000;
/// How many characters of the description of an argument, field or case are shown.
const ARGUMENT_TEXT_CHARS: usize = 500;
/// How many lines the arguments of one option may take, nested fields included.
const DETAIL_LINES_MAX: usize = 200;
/// How deep nested fields are told.
const DETAIL_LEVELS_MAX: usize = 8;

/// The menu as a model reads it; an empty line stands between two options.
#[must_use]
pub fn render_menu(menu: &Menu) -> String {
    menu.text().to_owned()
}

/// Renders one option; the text ends with a line break.
pub(super) fn render_option(option: &MenuOption) -> String {
    let members = option.members();
    let parameters = members.iter().map(|member| {
        let field = member.field;
        format!("{}: {}", field.name, signature_type(&field.ty))
    });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let mut text = format!("{}({parameters})\n", option.name);
    for line in clipped(option.description.trim(), OPTION_TEXT_CHARS_MAX).lines() {
        // An empty line would look like the end of the option, and a call like its own.
        let line = one_paragraph(line);
        let mark = if line.starts_with("Call:") { "> " } else { "" };
        if !line.is_empty() {
            let _ = writeln!(text, "    {mark}{line}");
        }
    }
    let mut details = Details {
        text: String::new(),
        lines: 0,
    };
    for member in &members {
        details.field(1, member.field, Some(*member), default_of(option, member));
    }
    if details.lines > DETAIL_LINES_MAX {
        let left_out = details.lines - DETAIL_LINES_MAX;
        let _ = writeln!(details.text, "    … {left_out} more lines left out");
    }
    text.push_str(&details.text);
    let _ = writeln!(text, "    Call: {}", one_line(&call(option, &members)));
    text
}

fn default_of<'a>(option: &'a MenuOption, member: &Member<'_>) -> Option<&'a Json> {
    let Payload::Function(function) = &option.payload else {
        return None;
    };
    let mut parameters = function.visible_parameters();
    let same = parameters.find(|parameter| parameter.field.name == member.field.name)?;
    same.default.as_ref()
}

fn call(option: &MenuOption, members: &[Member<'_>]) -> Json {
    let mut call = JsonObject::new();
    call.insert("call".to_owned(), option.name.as_str().into());
    if !members.is_empty() {
        let fields = members.iter().map(|member| member.field);
        call.insert("args".to_owned(), example(fields));
    }
    Json::Object(call)
}

/// The lines about the arguments of one option. Lines over the limit are counted, not written.
struct Details {
    text: String,
    lines: usize,
}

impl Details {
    fn line(&mut self, level: usize, line: &str) {
        self.lines += 1;
        if self.lines <= DETAIL_LINES_MAX {
            let _ = writeln!(self.text, "{}{line}", "    ".repeat(level));
        }
    }

    fn field(
        &mut self,
        level: usize,
        field: &Field,
        member: Option<Member<'_>>,
        default: Option<&Json>,
    ) {
        let optional = member.is_some_and(|member| member.optional);
        let facts = Facts {
            field,
            optional,
            default,
        };
        let mut line = format!("{} ({facts})", field.name);
        let description = field.description.as_deref().unwrap_or_default();
        let description = one_paragraph(description);
        if !description.is_empty() {
            let _ = write!(line, ": {}", clipped(&description, ARGUMENT_TEXT_CHARS));
        }
        self.line(level, &line);
        self.inside(level + 1, &field.ty);
    }

    /// The fields and cases inside a type.
    fn inside(&mut self, level: usize, ty: &Type) {
        if level > DETAIL_LEVELS_MAX || self.lines > DETAIL_LINES_MAX {
            return;
        }
        match ty {
            Type::Option(inner) | Type::List(inner) | Type::FixedList(inner, _) => {
                self.inside(level, inner);
            }
            Type::Map(_, value) => self.inside(level, value),
            Type::Tuple(types) => types.iter().for_each(|ty| self.inside(level, ty)),
            Type::Result(ok, err) => {
                for ty in [ok, err].into_iter().flatten() {
                    self.inside(level, ty);
                }
            }
            Type::Record(record) => {
                for field in &record.fields {
                    self.field(level, field, Some(Member::of(field)), None);
                }
            }
            Type::Enum(cases) | Type::Flags(cases) | Type::Variant(cases) => {
                cases.cases.iter().for_each(|case| self.case(level, case));
            }
            _ => {}
        }
    }

    /// A case is told when there is more to say than its name, which stands in the facts.
    fn case(&mut self, level: usize, case: &Case) {
        let mut payload = Self {
            text: String::new(),
            lines: self.lines + 1,
        };
        if let Some(ty) = &case.payload {
            payload.inside(level + 1, ty);
        }
        let description = one_paragraph(case.description.as_deref().unwrap_or_default());
        if description.is_empty() && payload.text.is_empty() {
            return;
        }
        let name = Json::from(case.name.as_str());
        let description = clipped(&description, ARGUMENT_TEXT_CHARS);
        self.line(level, format!("{name}: {description}").trim_end());
        self.lines = payload.lines;
        self.text.push_str(&payload.text);
    }
}
