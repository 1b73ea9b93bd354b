//! Times: now, in other zones, between two of them, and some time later.
//!
//! The page of what models see; `time` does the work. Zones and their rules are those of the zone
//! database that the component was built with.

mod time;

/// Tells, converts and compares times.
#[openprogram_guest::functions]
pub mod clock {
    use openprogram_guest::Failure;

    /// Tell the time and the date as they are now, with the day of the week.
    #[function(read_only)]
    pub fn current_time(
        /// The zone to tell it in: a name such as `Europe/Berlin`, an offset such as `+02:00`, or
        /// `UTC`, which it is without one.
        #[param(placeholder = "Europe/Berlin")]
        zone: Option<String>,
    ) -> Result<Moment, Failure> {
        crate::time::now(zone.as_deref())
    }

    /// Tell what a time in one zone is in another one, and its day of the week.
    #[function(read_only)]
    pub fn convert_time(
        /// The time, for example `2026-12-24T18:00:00+01:00`, `2026-12-24T18:00` or `2026-12-24`.
        time: &str,
        /// The zone to tell it in, as for `current_time`.
        #[param(placeholder = "America/New_York")]
        zone: &str,
        /// The zone that the time is in, where it names none itself; `UTC` without it.
        from_zone: Option<String>,
    ) -> Result<Moment, Failure> {
        crate::time::convert(time, zone, from_zone.as_deref())
    }

    /// Tell how much time lies between two times or dates. It is negative where the end comes first.
    #[function(read_only)]
    pub fn time_between(
        /// Where it begins, for example `2026-12-01` or `2026-12-01T09:30:00Z`.
        start: &str,
        /// Where it ends.
        end: &str,
        /// The zone of times that name none, and of the days between them; `UTC` without it.
        zone: Option<String>,
    ) -> Result<Between, Failure> {
        crate::time::between(start, end, zone.as_deref())
    }

    /// Tell the time that comes so much after, or before, another one.
    #[function(read_only)]
    pub fn add_time(
        /// The time to begin with, for example `2026-01-31` or `2026-12-01T09:30:00+01:00`.
        time: &str,
        /// How much to add, for example `3 days`, `1 month 2 weeks`, `-90 minutes` or `P1Y2M`.
        #[param(placeholder = "3 days")]
        duration: &str,
        /// The zone of a time that names none; `UTC` without it.
        zone: Option<String>,
    ) -> Result<Moment, Failure> {
        crate::time::add(time, duration, zone.as_deref())
    }

    /// A moment.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Moment {
        /// The time with its offset from UTC, as RFC 3339 writes it.
        pub time: String,
        /// The zone it is told in.
        pub zone: String,
        /// The day of the week.
        pub weekday: Weekday,
        /// The seconds since 1970 began in UTC.
        pub unix_seconds: i64,
    }

    /// A day of the week.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Weekday {
        Monday,
        Tuesday,
        Wednesday,
        Thursday,
        Friday,
        Saturday,
        Sunday,
    }

    /// The time between two times.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Between {
        /// In years, months, days, hours, minutes and seconds, for example `1y 2mo 3d 4h`.
        pub text: String,
        /// The same as ISO 8601 writes it, for example `P1Y2M3DT4H`.
        pub iso: String,
        /// The whole days.
        pub days: i64,
        /// The whole seconds.
        pub seconds: i64,
    }
}
