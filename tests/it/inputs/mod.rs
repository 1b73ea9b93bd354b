//! Small inputs that other hosts of components stumbled over, each with its exact outcome. The table
//! says where each of them is tested; what had no test of its own is tested here.

mod names;
mod values;

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::Expect;
use openprogram_core::Json;
use openprogram_core::schema::{Case, CasesType, Field, IntegerKind, RecordType, Type};
use openprogram_tests::guests;
use openprogram_tests::host::{RunningHost, TestHost};
use openprogram_tests::signatures::{Echo, INTERFACE, PAD, Signature, component_with};
use serde_json::json;

/// An input, the file of its test, and the test.
const TABLE: [(&str, &str, &str); 34] = [
    (
        "a missing, wrong, out of range",
        "tests/it/inputs/values.rs",
        "an_optional_number_is_read_or_refused_by_its_path",
    ),
    (
        "b option of an option",
        "tests/it/inputs/values.rs",
        "an_option_of_an_option_has_three_states",
    ),
    (
        "c integers beyond 2^53",
        "tests/it/values.rs",
        "every_type_goes_in_and_comes_back",
    ),
    (
        "d NaN, infinities, -0, f32 0.1",
        "tests/it/values.rs",
        "every_type_goes_in_and_comes_back",
    ),
    (
        "f names of members that mean something in JSON",
        "tests/it/inputs/values.rs",
        "members_may_have_the_names_of_the_forms_in_json",
    ),
    (
        "f 65 cases",
        "tests/it/inputs/values.rs",
        "an_enum_of_65_is_one_and_flags_are_read_as_a_set",
    ),
    (
        "f 65 flags",
        "tests/it/sandbox/loading.rs",
        "hostile_forms_are_refused_by_name",
    ),
    (
        "g results of every form",
        "host/crates/component/src/tests/calls.rs",
        "values_come_back_as_they_went_in",
    ),
    (
        "g no result",
        "tests/it/values.rs",
        "every_type_without_parameters_or_result_is_called",
    ),
    (
        "g async, streams, futures",
        "host/crates/component/src/tests/load.rs",
        "async_types_are_refused_by_the_name_of_what_needs_them",
    ),
    (
        "h 8 MiB of bytes",
        "tests/it/inputs/values.rs",
        "bytes_that_are_too_many_end_in_a_named_limit_each_way",
    ),
    (
        "h lists in lists, maps, fixed lists",
        "tests/it/inputs/values.rs",
        "lists_in_lists_maps_and_lists_of_fixed_length_come_back",
    ),
    (
        "h characters",
        "tests/it/values.rs",
        "every_type_names_the_path_of_what_is_wrong",
    ),
    (
        "h lone surrogates from a person",
        "tests/it/cli/odd.rs",
        "half_of_a_character_is_no_argument",
    ),
    (
        "h lone surrogates from a guest",
        "tests/it/sandbox/hostile.rs",
        "every_attack_ends_as_the_list_says_and_the_host_goes_on",
    ),
    (
        "j a function of the world beside one of an interface",
        "tests/it/inputs/names.rs",
        "a_name_in_the_world_and_in_an_interface_are_two_tools",
    ),
    (
        "j two packages with one name",
        "tests/it/inputs/names.rs",
        "two_packages_with_the_same_words_are_two_tools",
    ),
    (
        "j two versions of an interface",
        "tests/it/foreign/versions.rs",
        "two_versions_of_an_interface_are_called_by_names_that_say_which",
    ),
    (
        "j a name of 150",
        "tests/it/inputs/names.rs",
        "long_names_are_cut_for_tools_and_refused_for_properties",
    ),
    (
        "j id, type, list as names",
        "tests/it/inputs/names.rs",
        "parameters_may_have_the_names_of_keywords_and_of_a_decision",
    ),
    (
        "j a-b and a--b",
        "tests/it/inputs/names.rs",
        "a_name_with_two_hyphens_is_none",
    ),
    (
        "j parameters runtime, call, action",
        "tests/it/inputs/names.rs",
        "parameters_may_have_the_names_of_keywords_and_of_a_decision",
    ),
    (
        "l a hundred nested records",
        "tests/it/inputs/names.rs",
        "depth_and_width_are_offered_or_refused_for_the_one_function",
    ),
    (
        "l a record of 300",
        "tests/it/inputs/names.rs",
        "depth_and_width_are_offered_or_refused_for_the_one_function",
    ),
    (
        "l 17 parameters",
        "tests/it/inputs/names.rs",
        "depth_and_width_are_offered_or_refused_for_the_one_function",
    ),
    (
        "n cache without writing, of another user",
        "host/crates/component/src/tests/caches.rs",
        "a_folder_that_cannot_be_written_or_belongs_to_another_user_is_refused_by_name",
    ),
    (
        "n cache on another filesystem",
        "tests/it/cli/odd.rs",
        "the_state_may_lie_on_another_filesystem",
    ),
    (
        "n damaged entry",
        "host/crates/component/src/tests/caches.rs",
        "a_damaged_entry_and_one_of_another_engine_under_its_name_are_compiled_anew",
    ),
    (
        "n cache that others can write",
        "host/crates/component/src/tests/load.rs",
        "a_cache_that_others_can_write_is_refused",
    ),
    (
        "n two processes at once",
        "host/crates/component/src/cache.rs",
        "writers_at_once_leave_a_whole_entry_of_one_of_them",
    ),
    (
        "n linked file, path with spaces, path that is no text",
        "tests/it/cli/odd.rs",
        "a_component_is_found_whatever_its_path_is_like",
    ),
    (
        "n file replaced while it is loaded",
        "tests/it/sandbox/loading.rs",
        "a_file_that_is_replaced_while_it_is_loaded_is_one_or_the_other",
    ),
    (
        "n wrong digest",
        "host/crates/component/src/tests/load.rs",
        "code_that_is_loaded_by_a_call_is_checked_against_its_digest",
    ),
    (
        "n moved tag, registry at 127.0.0.1 over http",
        "tests/it/cli/registry.rs",
        "an_artifact_is_pinned_at_add_and_a_moved_tag_waits_for_update",
    ),
];

#[test]
fn every_small_input_has_its_test() {
    for (input, file, test) in TABLE {
        let text = std::fs::read_to_string(guests::root().join(file)).unwrap();
        assert!(
            text.contains(&format!("fn {test}(")),
            "{input}: `{test}` in {file}"
        );
    }
}

pub(super) fn u32_type() -> Type {
    Type::Integer(IntegerKind::U32)
}

pub(super) fn option(ty: Type) -> Type {
    Type::Option(Box::new(ty))
}

pub(super) fn record(name: &str, fields: &[(&str, Type)]) -> Type {
    let fields = fields.iter();
    Type::Record(Arc::new(RecordType {
        name: Some(name.to_owned()),
        description: None,
        fields: fields
            .map(|(name, ty)| Field::new(*name, ty.clone()))
            .collect(),
    }))
}

pub(super) fn cases(name: &str, cases: &[(&str, Option<Type>)]) -> Arc<CasesType> {
    let case = |(name, payload): &(&str, Option<Type>)| Case {
        name: (*name).to_owned(),
        description: None,
        payload: payload.clone(),
    };
    Arc::new(CasesType {
        name: Some(name.to_owned()),
        description: None,
        cases: cases.iter().map(case).collect(),
    })
}

/// A component whose functions `same-f0`, … give back what they get.
pub(super) fn echoes(signatures: &[&[(&str, Type)]]) -> Vec<u8> {
    try_echoes(signatures).unwrap_or_else(|error| panic!("{error:#}"))
}

pub(super) fn try_echoes(signatures: &[&[(&str, Type)]]) -> anyhow::Result<Vec<u8>> {
    let signature = |parameters: &&[(&str, Type)]| Signature {
        parameters: parameters
            .iter()
            .map(|(name, ty)| Field::new(*name, ty.clone()))
            .collect(),
    };
    let signatures: Vec<_> = signatures.iter().map(signature).collect();
    component_with(&signatures, &[Echo::Same])
}

pub(super) async fn host(signatures: &[&[(&str, Type)]]) -> RunningHost {
    let host = TestHost::new().component("echoes", echoes(signatures));
    host.start().await
}

/// What came back of the first parameters, or the failure.
pub(super) async fn answer(host: &RunningHost, number: usize, arguments: &str) -> String {
    let mut arguments: Json = serde_json::from_str(arguments).unwrap();
    arguments[PAD] = json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let function = format!("{INTERFACE}.{}", Echo::Same.name(number));
    match host.call(&function, arguments).await {
        Ok(Json::Array(mut values)) => {
            values.pop();
            Json::Array(values).to_string()
        }
        Ok(other) => panic!("{other}"),
        Err(failure) => failure.to_string().replace(&function, "f"),
    }
}

pub(super) async fn check(host: &RunningHost, calls: &[(usize, &str)], expected: Expect) {
    let mut shown = String::new();
    for (number, arguments) in calls {
        let answer = answer(host, *number, arguments).await;
        let _ = writeln!(shown, "{arguments} -> {answer}");
    }
    expected.assert_eq(&shown);
}
