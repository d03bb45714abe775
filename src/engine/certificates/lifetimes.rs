//! Lifetimes and waits of certificates (seconds), with the defaults of the flags that set them.

/// Settings of the state machine. Clocks of machines may be off by `skew` in either direction, so two of them differ by
/// twice that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Lifetime of a CA.
    pub ca: i64,
    /// Lifetime of a leaf.
    pub leaf: i64,
    /// Soak time: how long the next CA is in every caBundle before it signs. An API server does not report when it has read a
    /// changed configuration, so only time shows it.
    pub soak: i64,
    /// Tolerated clock skew.
    pub skew: i64,
    /// Time between two checks.
    pub tick: i64,
    /// Settle time of a correct caBundle. The watches of API servers need some time.
    pub settle: i64,
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl Lifetimes {
    /// The defaults: the flags of `serve` show them, and tests start from them.
    pub const DEFAULT: Self =
        Self { ca: 365 * DAY, leaf: 72 * HOUR, soak: 10 * MINUTE, skew: 10 * MINUTE, tick: 10, settle: 2 };

    /// Checks the settings against each other.
    ///
    /// # Errors
    /// The setting, its value and the expected one.
    pub fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: i64, least: i64, most: i64, why: &str| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(format!("{name} is {value}s; expected {least}s to {most}s ({why})"))
            }
        };
        within("--tls-ca-life", self.ca, 20, 10 * 365 * DAY, "at most ten years")?;
        within("--tls-leaf-life", self.leaf, 3, self.ca / 4, "at most a quarter of --tls-ca-life")?;
        within(
            "--tls-clock-skew",
            self.skew,
            0,
            (self.leaf / 6).min(DAY),
            "at most a sixth of --tls-leaf-life, and at most one day",
        )?;
        within("--tls-soak", self.soak, 0, self.ca / 8, "at most an eighth of --tls-ca-life")?;
        within(
            "--tls-tick",
            self.tick,
            1,
            (self.leaf / 6).clamp(1, 300),
            "at most a sixth of --tls-leaf-life, and at most 300s",
        )?;
        within(
            "--tls-settle",
            self.settle,
            0,
            60,
            "at most one minute, because the server is not ready in this time",
        )
    }

    /// How long before its issue a certificate becomes valid: one clock may be fast, another slow.
    #[must_use]
    pub fn backdate(&self) -> i64 {
        2 * self.skew
    }

    /// Age of the mark, which another clock may have set, at which the next CA has been known long enough.
    #[must_use]
    pub fn soak_age_when_known(&self) -> i64 {
        self.soak + 2 * self.skew
    }

    /// Age of a switch at which no leaf of the CA before it can be valid: a leaf may have been signed a moment after, by
    /// a replica that had not seen it.
    #[must_use]
    pub fn switch_age_when_old_leaves_ended(&self) -> i64 {
        self.leaf + 3 * self.skew + 2 * self.tick
    }

    /// How long before its end a leaf of this lifetime may have expired by another clock or at the next check. At most a
    /// tenth of the lifetime.
    #[must_use]
    pub fn last_seconds_of_leaf(&self, life: i64) -> i64 {
        (2 * self.skew + self.tick).min(life / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_fit_and_bounds_are_reported() {
        Lifetimes::DEFAULT.check().unwrap();
        let wrong = |change: fn(&mut Lifetimes)| {
            let mut lives = Lifetimes::DEFAULT;
            change(&mut lives);
            lives.check().unwrap_err()
        };
        assert!(wrong(|l| l.ca = 5).starts_with("--tls-ca-life is 5s; expected 20s to"));
        assert!(wrong(|l| l.leaf = l.ca).starts_with("--tls-leaf-life"));
        assert!(wrong(|l| l.skew = l.leaf).starts_with("--tls-clock-skew"));
        assert!(wrong(|l| l.soak = l.ca).starts_with("--tls-soak"));
        assert!(wrong(|l| l.tick = 0).starts_with("--tls-tick"));
        assert!(wrong(|l| l.settle = 61).starts_with("--tls-settle"));
    }

    #[test]
    fn the_end_of_a_leaf_is_as_long_as_clocks_differ() {
        let lives = Lifetimes::DEFAULT;
        assert_eq!(lives.last_seconds_of_leaf(lives.leaf), 1210);
        assert_eq!(lives.last_seconds_of_leaf(1000), 100);
    }
}
