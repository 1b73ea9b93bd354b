//! Every type in every language: components that the tools of that language make, each function called
//! with good, missing, wrong, extreme and extra arguments, and compared with another implementation.
//!
//! A few of them are built and called here, each group of types once and each toolchain at least once;
//! with `OPENPROGRAM_KINDS=all`, all of them, and with the name of a toolchain, all of that one.

mod built;

use openprogram_tests::kinds::{Group, INTERFACE, NOT_SUPPORTED, rows, rows_of, sources};
use openprogram_tests::signatures::{Asked, AskedComponent, ask_second};
use openprogram_tests::toolchain::Toolchain;

use built::{Built, equal};

/// What is built where not all of it is.
const SAMPLE: [(Toolchain, Group); 9] = [
    (Toolchain::C, Group::Numbers),
    (Toolchain::Python, Group::Texts),
    (Toolchain::QuickJs, Group::Lists),
    (Toolchain::StarlingMonkey, Group::Options),
    (Toolchain::Rust, Group::Records),
    (Toolchain::C, Group::Names),
    (Toolchain::QuickJs, Group::Variants),
    (Toolchain::Rust, Group::Wide),
    (Toolchain::Rust, Group::Newer),
];

/// Toolchains and groups, without those of which a toolchain has nothing.
fn chosen() -> Vec<(Toolchain, Group)> {
    let Ok(wanted) = std::env::var("OPENPROGRAM_KINDS") else {
        return SAMPLE.to_vec();
    };
    let named = |toolchain: &Toolchain| {
        wanted == "all" || format!("{toolchain:?}").eq_ignore_ascii_case(&wanted)
    };
    let all = Toolchain::ALL.into_iter().filter(named);
    let all = all.flat_map(|toolchain| Group::ALL.map(|group| (toolchain, group)));
    let all = all.filter(|(toolchain, group)| !rows_of(*toolchain, *group).is_empty());
    let all: Vec<_> = all.collect();
    assert_ne!(all.len(), 0, "OPENPROGRAM_KINDS is `all` or a toolchain");
    all
}

#[tokio::test]
async fn functions_of_every_type_in_every_language_take_what_fits_and_refuse_what_does_not() {
    let mut asked = Asked::default();
    let mut all = Vec::new();
    let mut problems = Vec::new();
    for (toolchain, group) in chosen() {
        let Some(mut built) = Built::new(toolchain, group).await else {
            return;
        };
        built.call_all().await;
        problems.append(&mut built.problems);
        // The other implementation does not know the types of this one.
        if group != Group::Newer {
            asked.components.push(AskedComponent {
                file: built.file,
                interface: INTERFACE.to_owned(),
                calls: built.calls.iter().map(|(call, ..)| call.clone()).collect(),
            });
            all.push((built.name, built.calls));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let Some(answered) = ask_second(&asked).unwrap() else {
        return;
    };
    assert_eq!(answered.results.len(), all.len());
    for ((name, calls), results) in all.iter().zip(&answered.results) {
        assert_eq!(calls.len(), results.len(), "{name}");
        for ((call, here, ty), there) in calls.iter().zip(results) {
            if !equal(ty.as_ref(), here, there) {
                let function = &call.function;
                let problem = format!("{name}: {function}\n here  {here}\n there {there}");
                problems.push(problem);
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_row_is_in_every_language_that_has_it_and_the_others_are_named() {
    let mut components = 0;
    for toolchain in Toolchain::ALL {
        for group in Group::ALL {
            let has = rows_of(toolchain, group);
            components += usize::from(!has.is_empty());
            for row in rows(group) {
                let named = NOT_SUPPORTED.iter();
                let named = named.filter(|(t, name, _)| (*t, *name) == (toolchain, row.name));
                let has = has.iter().filter(|known| known.name == row.name);
                assert_eq!(has.count() + named.count(), 1, "{toolchain:?} {}", row.name);
            }
        }
    }
    assert!(components >= 40, "{components}");
    let groups = Group::ALL.map(|group| SAMPLE.iter().filter(|(_, g)| *g == group).count());
    assert_eq!(groups, [1; 9]);
    let sampled = |toolchain: &Toolchain| SAMPLE.iter().any(|(t, _)| t == toolchain);
    assert!(Toolchain::ALL.iter().all(sampled));
}

/// When a toolchain learns a type, the table says so no longer.
#[test]
fn what_a_toolchain_lacks_it_refuses() {
    for (toolchain, name, word) in NOT_SUPPORTED {
        let rows = rows(Group::Newer).into_iter();
        let rows: Vec<_> = rows.filter(|row| row.name == name).collect();
        let built = sources(toolchain, Group::Newer, &rows);
        let built = built.and_then(|sources| toolchain.build(&sources));
        let said = match built {
            Ok(None) => return,
            Ok(Some(_)) => panic!("{toolchain:?} has `{name}` by now"),
            Err(error) => format!("{error:#}"),
        };
        assert!(said.contains(word), "{toolchain:?} `{name}`: {said}");
    }
}
