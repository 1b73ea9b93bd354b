//! The orders of the shop, as they stand in its books today.

use crate::tickets::{Order, OrderState};

/// One order of the books.
pub(crate) struct Entry {
    pub(crate) number: u32,
    pub(crate) item: &'static str,
    pub(crate) cents: u32,
    pub(crate) state: OrderState,
    pub(crate) delivered_days_ago: Option<u32>,
}

const fn entry(
    number: u32,
    item: &'static str,
    cents: u32,
    state: OrderState,
    delivered_days_ago: Option<u32>,
) -> Entry {
    Entry {
        number,
        item,
        cents,
        state,
        delivered_days_ago,
    }
}

const BOOKS: [Entry; 7] = [
    entry(
        1001,
        "coffee grinder",
        4_990,
        OrderState::Delivered,
        Some(3),
    ),
    entry(1002, "bread knife", 2_450, OrderState::Delivered, Some(41)),
    entry(
        1003,
        "espresso machine",
        64_900,
        OrderState::Delivered,
        Some(5),
    ),
    entry(1004, "set of six glasses", 3_200, OrderState::Shipped, None),
    entry(1005, "cast iron pan", 7_900, OrderState::Lost, None),
    entry(1006, "apron", 1_800, OrderState::Preparing, None),
    entry(1007, "kettle", 3_900, OrderState::Refunded, Some(12)),
];

/// The order as a model and a person see it.
pub(crate) fn look_up(order_number: &str) -> Result<Order, String> {
    let found = find(order_number)?;
    Ok(Order {
        order_number: name(found),
        item: found.item.to_owned(),
        paid: dollars(found.cents),
        state: found.state,
        delivered_days_ago: found.delivered_days_ago,
    })
}

/// The entry of an order, whose number may be written as `A-1001`, `#a1001` or `1001`.
pub(crate) fn find(order_number: &str) -> Result<&'static Entry, String> {
    let trimmed = order_number.trim().trim_start_matches('#');
    let bare = trimmed
        .strip_prefix(['A', 'a'])
        .unwrap_or(trimmed)
        .trim_start_matches(['-', ' ']);
    let number: Option<u32> = bare.parse().ok();
    let found = BOOKS.iter().find(|entry| Some(entry.number) == number);
    found.ok_or_else(|| {
        let shown: String = trimmed.chars().take(32).collect();
        format!("there is no order `{shown}`; order numbers look like A-1001")
    })
}

/// The number as customers write it.
pub(crate) fn name(entry: &Entry) -> String {
    format!("A-{}", entry.number)
}

/// An amount, written with two decimals.
pub(crate) fn dollars(cents: u32) -> String {
    format!("{}.{:02} USD", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_found_in_every_way_its_number_is_written() {
        let grinder = Order {
            order_number: "A-1001".to_owned(),
            item: "coffee grinder".to_owned(),
            paid: "49.90 USD".to_owned(),
            state: OrderState::Delivered,
            delivered_days_ago: Some(3),
        };
        for written in ["A-1001", "a-1001", "#A-1001", " A1001 ", "1001", "#1001"] {
            assert_eq!(look_up(written), Ok(grinder.clone()), "{written}");
        }
    }

    #[test]
    fn an_unknown_number_says_how_numbers_look() {
        for (written, shown) in [
            ("A-9999", "A-9999"),
            ("", ""),
            ("the grinder", "the grinder"),
            ("-1001x", "-1001x"),
        ] {
            let told = format!("there is no order `{shown}`; order numbers look like A-1001");
            assert_eq!(look_up(written), Err(told), "{written}");
        }
    }
}
