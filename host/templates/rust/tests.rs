//! Tests of what the functions do by themselves; run them with `cargo test`.
//!
//! There is no host here, so a function that reaches for one (a runtime, a menu, a call) cannot be
//! run here: `openprogram run` with prepared replies does that, see `README.md`.

use crate::workshop::{Booking, Price, Repair, book_repair, tell_price};

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
