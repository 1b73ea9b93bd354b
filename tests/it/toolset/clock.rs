//! The component `clock`: it needs no grant and has nothing but the clock of the host.

use openprogram_tests::web::WebHost;
use serde_json::{Value, json};

use super::told;

async fn call(function: &str, arguments: Value) -> String {
    told(&WebHost::of("clock").call(function, arguments).await)
}

#[tokio::test]
async fn the_time_of_the_host_is_told_in_every_zone() {
    for (zone, ends) in [
        (json!(null), "+00:00"),
        (json!("Asia/Kolkata"), "+05:30"),
        (json!("-03:30"), "-03:30"),
    ] {
        let told: Value =
            serde_json::from_str(&call("current-time", json!({ "zone": zone })).await).unwrap();
        assert!(told["time"].as_str().unwrap().ends_with(ends), "{told}");
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let apart = now
            .unwrap()
            .as_secs()
            .abs_diff(told["unix_seconds"].as_u64().unwrap());
        assert!(apart < 600, "{told}");
    }
}

#[tokio::test]
async fn times_are_converted_compared_and_moved() {
    let convert = json!({"time": "2026-12-24T18:00:00+01:00", "zone": "America/New_York"});
    let converted: Value = serde_json::from_str(&call("convert-time", convert).await).unwrap();
    let expected = json!({
        "time": "2026-12-24T12:00:00-05:00", "zone": "America/New_York", "weekday": "thursday",
        "unix_seconds": 1_798_131_600,
    });
    assert_eq!(converted, expected);
    let between = json!({"start": "2026-12-01", "end": "2027-01-03T12:00Z"});
    let between: Value = serde_json::from_str(&call("time-between", between).await).unwrap();
    let expected =
        json!({"text": "1mo 2d 12h", "iso": "P1M2DT12H", "days": 33, "seconds": 2_894_400});
    assert_eq!(between, expected);
    let add = json!({"time": "2026-01-31", "duration": "1 month", "zone": "Europe/Berlin"});
    let sum: Value = serde_json::from_str(&call("add-time", add).await).unwrap();
    assert_eq!(sum["time"], "2026-02-28T00:00:00+01:00");
}

#[tokio::test]
async fn what_is_no_time_is_told_with_what_one_looks_like() {
    for (function, arguments, said) in [
        (
            "current-time",
            json!({"zone": "Nowhere"}),
            "invalid-argument: there is no zone `Nowhere`; name one as `Europe/Berlin`, `+02:00` or \
             `UTC`",
        ),
        (
            "convert-time",
            json!({"time": "noon", "zone": "UTC"}),
            "invalid-argument: `noon` is no time; write for example `2026-12-24T18:00:00+01:00`, \
             `2026-12-24T18:00` or `2026-12-24`",
        ),
        (
            "add-time",
            json!({"time": "2026-12-01", "duration": "a while"}),
            "invalid-argument: `a while` is no duration; write for example `3 days`, `-1 month` or \
             `P1Y2M`",
        ),
    ] {
        assert_eq!(call(function, arguments).await, said);
    }
}
