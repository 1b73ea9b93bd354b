//! Tests of what the functions do by themselves; run them with `cargo test`.
//!
//! There is no host here: what a model would answer is prepared by the test. What the host checks,
//! such as the types of arguments, is seen by `openprogram run` with prepared replies, see `README.md`.

use openprogram_guest::json;
use openprogram_guest::testing::MockRuntime;

use crate::workshop::{Booking, Price, Repair, book_repair, handle_message, tell_price};

#[test]
fn a_message_that_wants_a_repair_is_booked() {
    let mock = MockRuntime::new()
        .pick("book", json!({"repair": "tyre"}))
        .call("book_repair", json!({"repair": "tyre", "message": "Flat."}));
    let handled = handle_message("Flat.".to_owned(), mock.runtime()).unwrap();
    let booked = r#"{"repair":"tyre","message":"Flat."}"#;
    assert_eq!(handled.to_string(), booked);
    assert_eq!(mock.requests()[0].options, ["book", "reply", "ignore"]);
}

#[test]
fn less_than_two_days_cost_more() {
    for (days, euros, is_express) in [(None, 15, false), (Some(1), 25, true)] {
        let expected = Price { euros, is_express };
        assert_eq!(tell_price(Repair::Tyre, days), expected, "{days:?}");
    }
}

#[test]
fn a_booking_keeps_the_message() {
    let booking = Booking {
        repair: Repair::Gears,
        message: "They slip.".to_owned(),
    };
    assert_eq!(book_repair(Repair::Gears, "They slip.".to_owned()), booking);
}
