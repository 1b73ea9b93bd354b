//! Functions of random types: what goes in comes back to the last bit, through a real component, and
//! is the same as what another implementation makes of it.
//!
//! `OPENPROGRAM_SEED` begins elsewhere and `OPENPROGRAM_SIGNATURES` asks for more of them; a failure
//! names both numbers that make it again.

use std::collections::BTreeMap;

use openprogram_core::function::Offer;
use openprogram_core::schema::{
    COERCIONS_LISTED_MAX, CheckMode, Type, check_value, result_to_json_schema,
};
use openprogram_core::{Json, JsonObject};
use openprogram_tests::fuzz::Random;
use openprogram_tests::host::{RunningHost, TestHost, load};
use openprogram_tests::signatures::{
    Asked, AskedCall, AskedComponent, Echo, INTERFACE, Loosener, PAD, Signature, ask_second,
    component, component_with, pad, plain_value, same, up_to_quotes,
};

use crate::schemas::validator;

/// How many functions.
const SIGNATURES: u64 = 220;
/// How many functions in one component.
const AT_ONCE: usize = 20;
/// How many times each is called with other values.
const CALLS: usize = 4;

/// A number from the environment.
pub(super) fn number(variable: &str, otherwise: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(otherwise, |text| text.parse().unwrap())
}

/// The random signatures, always the same ones for the same seed.
pub(super) fn signatures() -> (u64, Vec<Signature>) {
    let seed = number("OPENPROGRAM_SEED", 1);
    let count = number("OPENPROGRAM_SIGNATURES", SIGNATURES);
    let mut next = 0;
    let make = |index| {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(index));
        Signature::random(&mut random, &mut next)
    };
    (seed, (0..count).map(make).collect())
}

/// One call and what has to come of it.
struct Tried {
    /// The number of the signature in its component.
    number: usize,
    values: Vec<Json>,
    pad: Json,
}

impl Tried {
    fn arguments(&self, signature: &Signature, random: &mut Random) -> Json {
        let mut arguments = JsonObject::new();
        for (field, value) in signature.parameters.iter().zip(&self.values) {
            // None is written as null, or left out.
            let is_none = value.is_null() && matches!(field.ty, Type::Option(_));
            if !is_none || random.below(2) == 0 {
                arguments.insert(field.name.clone(), value.clone());
            }
        }
        arguments.insert(PAD.to_owned(), self.pad.clone());
        Json::Object(arguments)
    }
}

/// The values that came back, without those of the last parameter.
async fn called(host: &RunningHost, echo: Echo, tried: &Tried, arguments: Json) -> Vec<Json> {
    let function = format!("{INTERFACE}.{}", echo.name(tried.number));
    let result = host.call(&function, arguments.clone()).await;
    let result = result.unwrap_or_else(|failure| panic!("{function} {arguments}: {failure}"));
    let Json::Array(mut values) = result else {
        panic!("{function} gave {result}");
    };
    assert_eq!(values.pop().as_ref(), Some(&tried.pad), "{function}");
    values
}

#[track_caller]
fn check_same(signature: &Signature, given: &[Json], got: &[Json], what: &str) {
    assert_eq!(given.len(), got.len(), "{what}");
    for ((field, given), got) in signature.parameters.iter().zip(given).zip(got) {
        assert!(
            same(&field.ty, given, got),
            "{what}: `{}` of {:?}\n given {given}\n got   {got}",
            field.name,
            field.ty
        );
    }
}

#[tokio::test]
async fn random_signatures_give_back_what_they_got_as_in_another_implementation() {
    let (seed, signatures) = signatures();
    let folder = tempfile::tempdir().unwrap();
    let mut asked = Asked::default();
    let mut all = Vec::new();
    for (block, signatures) in signatures.chunks(AT_ONCE).enumerate() {
        let what = format!("OPENPROGRAM_SEED={seed}, block {block}");
        let bytes = component(signatures).unwrap_or_else(|error| panic!("{what}: {error:#}"));
        let file = folder.path().join(format!("{block}.wasm"));
        let plain: Vec<_> = signatures.iter().map(Signature::plain).collect();
        std::fs::write(&file, component_with(&plain, &[Echo::Same]).unwrap()).unwrap();
        let host = TestHost::new().component("random", bytes).start().await;
        let mut random = Random::new(seed.wrapping_add(block as u64));
        let mut calls = Vec::new();
        for (number, signature) in signatures.iter().enumerate() {
            let plain = signature.plain();
            let mut functions = host.runtime.catalog().iter();
            let name = Echo::Same.name(number);
            let function = functions.find(|f| f.name.function == name).unwrap();
            let returns = result_to_json_schema(function.returns.as_ref().unwrap());
            let returns = validator(&returns);
            for _ in 0..CALLS {
                let tried = Tried {
                    number,
                    values: signature.values(&mut random, false),
                    pad: pad(&mut random),
                };
                let what = format!("{what}, function {number}");
                let arguments = tried.arguments(signature, &mut random);
                let got = called(&host, Echo::Same, &tried, arguments.clone()).await;
                check_same(signature, &tried.values, &got, &what);
                let mut whole = got;
                whole.push(tried.pad.clone());
                let checked = returns.check(&Json::Array(whole));
                assert!(checked.is_ok(), "{what}: {checked:?}");
                let pairs = signature.parameters.iter().zip(&tried.values);
                let values = pairs.map(|(field, value)| plain_value(&field.ty, value));
                let values: Vec<_> = values.collect();
                let got = called(&host, Echo::ToPlain, &tried, arguments).await;
                check_same(&plain, &values, &got, &what);
                let mut arguments = values.clone();
                arguments.push(tried.pad);
                calls.push(AskedCall {
                    function: Echo::Same.name(number),
                    arguments,
                });
                all.push((what, plain.clone(), values));
            }
        }
        asked.components.push(AskedComponent {
            file,
            interface: INTERFACE.to_owned(),
            calls,
        });
    }
    let Some(answered) = ask_second(&asked).unwrap() else {
        return;
    };
    let results: Vec<_> = answered.results.into_iter().flatten().collect();
    assert_eq!(results.len(), all.len());
    for ((what, plain, values), result) in all.iter().zip(&results) {
        let result = result.as_array().unwrap();
        let got = &result[..result.len() - 1];
        check_same(plain, values, got, &format!("{what}, the other one"));
    }
}

#[tokio::test]
async fn random_signatures_are_read_from_a_component_as_they_were_declared() {
    let (seed, signatures) = signatures();
    for (block, signatures) in signatures.chunks(AT_ONCE).enumerate() {
        let loaded = load("random", component(signatures).unwrap())
            .await
            .unwrap();
        for (number, signature) in signatures.iter().enumerate() {
            let name = Echo::Same.name(number);
            let mut functions = loaded.functions().iter();
            let function = functions.find(|f| f.name.function == name).unwrap();
            let what = format!("OPENPROGRAM_SEED={seed}, block {block}, `{name}`");
            assert_eq!(function.offer, Offer::Offered, "{what}");
            let fields = function.parameters.iter().map(|p| p.field.clone());
            let mut fields: Vec<_> = fields.collect();
            assert_eq!(fields.pop().unwrap().name, PAD);
            assert_eq!(fields, signature.parameters, "{what}");
        }
    }
}

#[test]
fn random_signatures_hold_every_form_of_type_and_are_deep_and_wide() {
    fn count(ty: &Type, forms: &mut BTreeMap<&'static str, usize>) -> usize {
        let (form, inner): (_, Vec<&Type>) = match ty {
            Type::Bool => ("bool", vec![]),
            Type::Integer(_) => ("integer", vec![]),
            Type::Float32 => ("f32", vec![]),
            Type::Float64 => ("f64", vec![]),
            Type::Char => ("char", vec![]),
            Type::String => ("string", vec![]),
            Type::Bytes => ("bytes", vec![]),
            Type::Json => ("json", vec![]),
            Type::AnyArray | Type::AnyObject => ("open", vec![]),
            Type::List(inner) => ("list", vec![inner]),
            Type::FixedList(inner, _) => ("fixed list", vec![inner]),
            Type::Map(key, inner) => ("map", vec![key, inner]),
            Type::Option(inner) if matches!(**inner, Type::Option(_)) => {
                ("option of an option", vec![inner])
            }
            Type::Option(inner) => ("option", vec![inner]),
            Type::Tuple(types) => ("tuple", types.iter().collect()),
            Type::Result(ok, err) => {
                let sides = ok.iter().chain(err).map(|ty| &**ty);
                ("result", sides.collect())
            }
            Type::Record(record) => ("record", record.fields.iter().map(|f| &f.ty).collect()),
            Type::Enum(_) => ("enum", vec![]),
            Type::Flags(_) => ("flags", vec![]),
            Type::Variant(cases) => {
                let payloads = cases.cases.iter().filter_map(|case| case.payload.as_ref());
                ("variant", payloads.collect())
            }
            Type::Handle(_) => ("handle", vec![]),
        };
        *forms.entry(form).or_default() += 1;
        let depths = inner.into_iter().map(|inner| count(inner, forms));
        depths.max().map_or(0, |depth| depth + 1)
    }
    let (_, signatures) = signatures();
    assert!(signatures.len() >= 200);
    let mut forms = BTreeMap::new();
    let parameters = signatures.iter().flat_map(|s| &s.parameters);
    let depths = parameters.map(|field| count(&field.ty, &mut forms));
    let deepest = depths.max().unwrap();
    assert!(deepest >= 14, "{deepest}");
    assert_eq!(forms.len(), 19, "{forms:?}");
    for (form, count) in &forms {
        assert!(*count >= 15, "{form}: {forms:?}");
    }
}

/// Without a component: thousands of types, each value taken as it is by the strict check.
#[test]
fn values_in_canonical_form_are_taken_as_they_are() {
    let seed = number("OPENPROGRAM_SEED", 1);
    for index in 0..number("OPENPROGRAM_TYPES", 1_500) {
        let mut random = Random::new(seed.wrapping_mul(7_919).wrapping_add(index));
        let signature = Signature::random(&mut random, &mut 0);
        let values = signature.values(&mut random, true);
        for (field, value) in signature.parameters.iter().zip(&values) {
            let what = format!(
                "OPENPROGRAM_SEED={seed}, type {index}: {value} of {:?}",
                field.ty
            );
            let back = openprogram_component::testing::round_trip(
                value,
                &field.ty,
                &openprogram_component::Limits::default(),
            );
            let back = back.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(same(&field.ty, value, &back), "{what} came back as {back}");
            for mode in [CheckMode::Strict, CheckMode::Lenient] {
                let checked = check_value(value, field, mode);
                let checked = checked.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(checked.value.to_string(), value.to_string(), "{what}");
                assert_eq!(checked.coercions, [], "{what}");
            }
        }
    }
}

/// What a model writes loosely is read as what it meant, each repair told at its path; the strict check
/// of decisions takes nothing of it, save that a member nobody knows is dropped and told there too.
#[test]
fn values_that_a_model_writes_loosely_are_repaired_and_told_or_refused() {
    let seed = number("OPENPROGRAM_SEED", 1);
    let mut repairs = 0;
    for index in 0..number("OPENPROGRAM_TYPES", 1_500) {
        let mut random = Random::new(seed.wrapping_mul(104_729).wrapping_add(index));
        let signature = Signature::random(&mut random, &mut 0);
        let values = signature.values(&mut random, true);
        for (field, value) in signature.parameters.iter().zip(&values) {
            let mut loosener = Loosener::new(&mut random);
            let loose = loosener.loosen(&field.ty, value, &field.name);
            let slips = loosener.slips().into_iter();
            let mut slips: Vec<_> = slips.map(|(at, drop)| (up_to_quotes(&at), drop)).collect();
            slips.sort();
            let what = format!(
                "OPENPROGRAM_SEED={seed}, type {index}: {loose} for {value} of {:?}",
                field.ty
            );
            let checked = check_value(&loose, field, CheckMode::Lenient);
            let checked = checked.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(checked.value.to_string(), value.to_string(), "{what}");
            if slips.len() <= COERCIONS_LISTED_MAX {
                let told = checked.coercions.into_iter();
                let told =
                    told.map(|told| (up_to_quotes(&told.path), told.what.ends_with("dropped")));
                let mut told: Vec<_> = told.collect();
                told.sort();
                assert_eq!(told, slips, "{what}");
            }
            let limits = openprogram_component::Limits::default();
            let back =
                openprogram_component::testing::round_trip(&checked.value, &field.ty, &limits);
            let back = back.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(same(&field.ty, value, &back), "{what} came back as {back}");
            let is_kept = slips.iter().all(|(_, dropped)| *dropped);
            match check_value(&loose, field, CheckMode::Strict) {
                Ok(strict) => {
                    assert!(is_kept, "{what}: taken by the strict check");
                    assert_eq!(strict.coercions.len(), slips.len(), "{what}");
                    assert_eq!(strict.value.to_string(), value.to_string(), "{what}");
                }
                Err(error) => assert!(!is_kept, "{what}: {error}"),
            }
            repairs += slips.len();
        }
    }
    assert!(repairs > 2_000, "{repairs}");
}
