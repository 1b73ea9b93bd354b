//! What the functions do, over the calendar of `jiff`.

use jiff::civil::{Date, DateTime, Weekday as Day};
use jiff::fmt::temporal::Pieces;
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp, Unit, ZonedDateTime};
use openprogram_guest::Failure;

use crate::clock::{Between, Moment, Weekday};

/// The most bytes of a time, a zone or a duration.
const TEXT_BYTES_MAX: usize = 200;

pub(crate) fn now(zone: Option<&str>) -> Result<Moment, Failure> {
    Ok(told(
        &Timestamp::now().to_zoned_datetime(read_zone("zone", zone)?),
    ))
}

pub(crate) fn convert(time: &str, zone: &str, from_zone: Option<&str>) -> Result<Moment, Failure> {
    let from_zone = read_zone("from_zone", from_zone)?;
    let zone = read_zone("zone", Some(zone))?;
    Ok(told(
        &read_time("time", time, &from_zone)?.with_time_zone(zone),
    ))
}

pub(crate) fn between(start: &str, end: &str, zone: Option<&str>) -> Result<Between, Failure> {
    let zone = read_zone("zone", zone)?;
    let start = read_time("start", start, &zone)?.with_time_zone(zone.clone());
    let end = read_time("end", end, &zone)?.with_time_zone(zone);
    let failed = |error: jiff::Error| Failure::invalid_argument("end", error.to_string());
    let span = start.until((Unit::Year, &end)).map_err(failed)?;
    let days = start.until((Unit::Day, &end)).map_err(failed)?.get_days();
    let seconds = end.timestamp().as_second() - start.timestamp().as_second();
    Ok(Between {
        text: format!("{span:#}"),
        iso: span.to_string(),
        days: days.into(),
        seconds,
    })
}

pub(crate) fn add(time: &str, duration: &str, zone: Option<&str>) -> Result<Moment, Failure> {
    let zone = read_zone("zone", zone)?;
    let time = read_time("time", time, &zone)?;
    let wrong = |why: String| Failure::invalid_argument("duration", why);
    let span: Span = checked("duration", duration)?.parse().map_err(|_| {
        wrong(format!(
            "`{}` is no duration; write for example `3 days`, `-1 month` or `P1Y2M`",
            shown(duration)
        ))
    })?;
    let sum = time.checked_add(span);
    let sum =
        sum.map_err(|_| wrong("the sum lies outside of the years -9999 to 9999".to_owned()))?;
    Ok(told(&sum))
}

/// A time as the functions tell it.
fn told(time: &ZonedDateTime) -> Moment {
    let zone = time.time_zone();
    let name = zone.iana_name().map(str::to_owned);
    let time_text = time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    Moment {
        zone: name.unwrap_or_else(|| time_text[time_text.len() - "+00:00".len()..].to_owned()),
        time: time_text,
        weekday: match time.weekday() {
            Day::Monday => Weekday::Monday,
            Day::Tuesday => Weekday::Tuesday,
            Day::Wednesday => Weekday::Wednesday,
            Day::Thursday => Weekday::Thursday,
            Day::Friday => Weekday::Friday,
            Day::Saturday => Weekday::Saturday,
            Day::Sunday => Weekday::Sunday,
        },
        unix_seconds: time.timestamp().as_second(),
    }
}

/// A zone by its name or its offset.
fn read_zone(argument: &str, zone: Option<&str>) -> Result<TimeZone, Failure> {
    let Some(zone) = zone.map(str::trim).filter(|zone| !zone.is_empty()) else {
        return Ok(TimeZone::UTC);
    };
    let zone = checked(argument, zone)?;
    if zone.eq_ignore_ascii_case("utc") || zone.eq_ignore_ascii_case("z") {
        return Ok(TimeZone::UTC);
    }
    if let Some(offset) = read_offset(zone) {
        return Ok(TimeZone::fixed(offset));
    }
    TimeZone::get(zone).map_err(|_| {
        let message = format!(
            "there is no zone `{}`; name one as `Europe/Berlin`, `+02:00` or `UTC`",
            shown(zone)
        );
        Failure::invalid_argument(argument, message)
    })
}

/// An offset such as `+02:00`, `-3:30` or `+2`.
fn read_offset(text: &str) -> Option<Offset> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-" | "\u{2212}", rest) => (-1, rest),
        _ => return None,
    };
    let digits = rest.replacen(':', "", 1);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.as_str(), "0"),
        3 | 4 => digits.split_at(digits.len() - 2),
        _ => return None,
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if hours > 24 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

/// A time as people write it: with an offset or a zone, or else in this one.
fn read_time(argument: &str, text: &str, zone: &TimeZone) -> Result<ZonedDateTime, Failure> {
    let text = checked(argument, text.trim())?;
    let failed = |why: &str| {
        let message = format!(
            "`{}` is {why}; write for example `2026-12-24T18:00:00+01:00`, `2026-12-24T18:00` or \
             `2026-12-24`",
            shown(text)
        );
        Failure::invalid_argument(argument, message)
    };
    if text.contains('[') {
        return text
            .parse()
            .map_err(|_| failed("no time of a zone that is known"));
    }
    let pieces = Pieces::parse(text).map_err(|_| failed("no time"))?;
    if let Some(offset) = pieces.to_numeric_offset() {
        let moment: Timestamp = text.parse().map_err(|_| failed("no time"))?;
        return Ok(moment.to_zoned_datetime(TimeZone::fixed(offset)));
    }
    if pieces.offset().is_some() {
        let moment: Timestamp = text.parse().map_err(|_| failed("no time"))?;
        return Ok(moment.to_zoned_datetime(TimeZone::UTC));
    }
    let date: Date = pieces.date();
    let time: DateTime = date.to_datetime(pieces.time().unwrap_or_default());
    time.to_zoned_datetime(zone.clone())
        .map_err(|_| failed("no time that can be told"))
}

fn checked<'a>(argument: &str, text: &'a str) -> Result<&'a str, Failure> {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(text);
    }
    let message = format!("`{argument}` has at most {TEXT_BYTES_MAX} bytes");
    Err(Failure::invalid_argument(argument, message))
}

/// A text of a caller in a message.
fn shown(text: &str) -> String {
    let clean = |c: char| if c.is_control() || c == '`' { '?' } else { c };
    text.chars().map(clean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(told: Result<Moment, Failure>) -> String {
        match told {
            Ok(moment) => format!("{} {} {:?}", moment.time, moment.zone, moment.weekday),
            Err(failure) => failure.message().to_owned(),
        }
    }

    #[test]
    fn now_is_told_in_every_zone() {
        let utc = now(None).unwrap();
        assert!(utc.time.ends_with("+00:00"), "{utc:?}");
        // A time that was true when this was written, and will be for a while.
        assert!(utc.unix_seconds > 1_750_000_000, "{utc:?}");
        let there = now(Some("Asia/Kolkata")).unwrap();
        assert!(there.time.ends_with("+05:30"), "{there:?}");
        assert!(there.unix_seconds - utc.unix_seconds < 100, "{there:?}");
    }

    #[test]
    fn times_are_converted_between_zones() {
        for (time, zone, from, expected) in [
            (
                "2026-12-24T18:00:00+01:00",
                "America/New_York",
                None,
                "2026-12-24T12:00:00-05:00 America/New_York Thursday",
            ),
            (
                "2026-07-01T12:00",
                "Europe/Berlin",
                None,
                "2026-07-01T14:00:00+02:00 Europe/Berlin Wednesday",
            ),
            (
                "2026-07-01 12:00",
                "utc",
                Some("Europe/Berlin"),
                "2026-07-01T10:00:00+00:00 UTC Wednesday",
            ),
            (
                "2026-12-01",
                "-3:30",
                None,
                "2026-11-30T20:30:00-03:30 -03:30 Monday",
            ),
            (
                "2026-12-01T00:00Z",
                "+14",
                None,
                "2026-12-01T14:00:00+14:00 +14:00 Tuesday",
            ),
            (
                "2026-12-01T12:00[Asia/Tokyo]",
                "UTC",
                None,
                "2026-12-01T03:00:00+00:00 UTC Tuesday",
            ),
            // An hour that is left out in spring is told as the one after it.
            (
                "2026-03-29T02:30",
                "Europe/Berlin",
                Some("Europe/Berlin"),
                "2026-03-29T03:30:00+02:00 Europe/Berlin Sunday",
            ),
        ] {
            assert_eq!(shown(convert(time, zone, from)), expected, "{time}");
        }
    }

    #[test]
    fn the_time_between_is_told_in_all_units() {
        for (start, end, zone, text, iso, days, seconds) in [
            (
                "2026-12-01",
                "2026-12-24",
                None,
                "23d",
                "P23D",
                23,
                1_987_200,
            ),
            (
                "2024-02-29",
                "2026-03-01",
                None,
                "2y 1d",
                "P2Y1D",
                731,
                63_158_400,
            ),
            (
                "2026-12-24",
                "2026-12-01",
                None,
                "23d ago",
                "-P23D",
                -23,
                -1_987_200,
            ),
            (
                "2026-12-01T09:30Z",
                "2026-12-01T11:00:05+01:00",
                None,
                "30m 5s",
                "PT30M5S",
                0,
                1_805,
            ),
            // The day on which clocks change has 23 hours.
            (
                "2026-03-29",
                "2026-03-30",
                Some("Europe/Berlin"),
                "1d",
                "P1D",
                1,
                82_800,
            ),
            ("2026-12-01", "2026-12-01", None, "0s", "PT0S", 0, 0),
        ] {
            let found = between(start, end, zone).unwrap();
            let expected = Between {
                text: text.to_owned(),
                iso: iso.to_owned(),
                days,
                seconds,
            };
            assert_eq!(found, expected, "{start} {end}");
        }
    }

    #[test]
    fn durations_are_added_by_the_calendar() {
        for (time, duration, zone, expected) in [
            (
                "2026-01-31",
                "1 month",
                None,
                "2026-02-28T00:00:00+00:00 UTC Saturday",
            ),
            (
                "2026-12-01T09:30Z",
                "-90 minutes",
                None,
                "2026-12-01T08:00:00+00:00 UTC Tuesday",
            ),
            (
                "2024-02-29",
                "P1Y",
                None,
                "2025-02-28T00:00:00+00:00 UTC Friday",
            ),
            (
                "2026-03-28T12:00",
                "1 day",
                Some("Europe/Berlin"),
                "2026-03-29T12:00:00+02:00 Europe/Berlin Sunday",
            ),
            (
                "2026-03-28T12:00",
                "24 hours",
                Some("Europe/Berlin"),
                "2026-03-29T13:00:00+02:00 Europe/Berlin Sunday",
            ),
        ] {
            assert_eq!(
                shown(add(time, duration, zone)),
                expected,
                "{time} {duration}"
            );
        }
    }

    #[test]
    fn what_is_none_of_it_is_told() {
        for (told, words) in [
            (now(Some("Mars/Base")), "there is no zone `Mars/Base`"),
            (now(Some("+99:00")), "there is no zone"),
            (now(Some(&"x".repeat(201))), "at most 200 bytes"),
            (convert("yesterday", "UTC", None), "`yesterday` is no time"),
            (convert("2026-13-01", "UTC", None), "is no time"),
            (convert("2026-02-30T10:00", "UTC", None), "is no time"),
            (
                convert("2026-12-01T12:00[No/Where]", "UTC", None),
                "no time of a zone",
            ),
            (add("2026-12-01", "soon", None), "`soon` is no duration"),
            (add("2026-12-01", "9000 years", None), "lies outside"),
            (add("a\n`b", "1 day", None), "`a??b` is no time"),
        ] {
            let told = shown(told);
            assert!(told.contains(words), "{told}");
        }
    }
}
