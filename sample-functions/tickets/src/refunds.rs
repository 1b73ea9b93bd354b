//! Refunds by the rules of the shop. What they do not allow is refused with the reason, which is a
//! result like any other: the ticket is handled.

use crate::orders::{self, Entry};
use crate::tickets::{OrderState, Refund, RefundReason, RefundStatus};

/// Above this a person has to approve, in cents.
const ALONE_MAX_CENTS: u32 = 20_000;
/// How long damage may be told, in days.
const DAMAGE_DAYS: u32 = 30;
/// How long an order may be sent back, in days.
const RETURN_DAYS: u32 = 14;

/// Refunds an order in full, or says why it is not refunded.
pub(crate) fn issue(order_number: &str, reason: RefundReason) -> Result<Refund, String> {
    let order = orders::find(order_number)?;
    let (status, cents, because) = match allowed(order, reason) {
        Ok(rule) if order.cents > ALONE_MAX_CENTS => {
            (RefundStatus::NeedsApproval, order.cents, rule.to_owned())
        }
        Ok(rule) => (RefundStatus::Issued, order.cents, rule.to_owned()),
        Err(why) => (RefundStatus::Refused, 0, why),
    };
    Ok(Refund {
        status,
        order_number: orders::name(order),
        amount: orders::dollars(cents),
        because,
    })
}

/// The rule that allows a refund, or why none does.
fn allowed(order: &Entry, reason: RefundReason) -> Result<&'static str, String> {
    let within = |days: u32, rule: &'static str| match order.delivered_days_ago {
        None => Err("it has not been delivered".to_owned()),
        Some(ago) if ago > days => Err(format!(
            "it was delivered {ago} days ago, after the {days} \
                                                days of the rule `{rule}`"
        )),
        Some(_) => Ok(rule),
    };
    match (order.state, reason) {
        (OrderState::Refunded, _) => Err("that has been done already".to_owned()),
        (OrderState::Lost, _) => Ok("Lost parcels"),
        (OrderState::Delivered, RefundReason::NotReceived) => {
            Err("the carrier delivered it; a person has to look into that".to_owned())
        }
        (_, RefundReason::NotReceived) => Err("it is still on its way".to_owned()),
        (OrderState::Delivered, RefundReason::WrongItem) => Ok("Wrong item"),
        (_, RefundReason::WrongItem) => Err("it has not been delivered".to_owned()),
        (_, RefundReason::Damaged) => within(DAMAGE_DAYS, "Damaged or faulty goods"),
        (_, RefundReason::ChangedMind) => within(RETURN_DAYS, "Changed mind"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_decide_and_large_amounts_wait_for_a_person() {
        use RefundReason::{ChangedMind, Damaged, NotReceived, WrongItem};
        for (order, reason, expected) in [
            (
                "A-1001",
                Damaged,
                "Issued 49.90 USD: Damaged or faulty goods",
            ),
            ("1001", ChangedMind, "Issued 49.90 USD: Changed mind"),
            (
                "A-1002",
                ChangedMind,
                "Refused 0.00 USD: it was delivered 41 days ago, after the 14 days of the \
                 rule `Changed mind`",
            ),
            ("A-1002", WrongItem, "Issued 24.50 USD: Wrong item"),
            (
                "A-1003",
                Damaged,
                "NeedsApproval 649.00 USD: Damaged or faulty goods",
            ),
            (
                "A-1004",
                NotReceived,
                "Refused 0.00 USD: it is still on its way",
            ),
            ("A-1005", NotReceived, "Issued 79.00 USD: Lost parcels"),
            (
                "A-1001",
                NotReceived,
                "Refused 0.00 USD: the carrier delivered it; a person has to look into that",
            ),
            (
                "A-1006",
                Damaged,
                "Refused 0.00 USD: it has not been delivered",
            ),
            (
                "A-1007",
                Damaged,
                "Refused 0.00 USD: that has been done already",
            ),
            (
                "A-1",
                Damaged,
                "there is no order `A-1`; order numbers look like A-1001",
            ),
        ] {
            let told = match issue(order, reason) {
                Ok(refund) => format!("{:?} {}: {}", refund.status, refund.amount, refund.because),
                Err(why) => why,
            };
            assert_eq!(told, expected, "{order} {reason:?}");
        }
    }
}
