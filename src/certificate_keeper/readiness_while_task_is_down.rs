//! The dates of the certificate in use, for the time when the task that renews it is down. The same bug may stop that
//! task in all replicas at once, while their certificates are good for days: so only the dates end readiness.

use super::Clock;
use crate::certificates::{Lifetimes, parse_fields};
use crate::tls::ServedCertificate;
use std::sync::Arc;

/// The certificate in use, and how to judge its dates.
#[derive(Default)]
pub(crate) struct DatesOfServedCertificate {
    pub(crate) served: Arc<ServedCertificate>,
    pub(crate) clock: Clock,
    /// The lives of a self-managed certificate.
    pub(crate) lives: Option<Lifetimes>,
}

impl DatesOfServedCertificate {
    /// Seconds until the certificate in use expires; `None` without one.
    pub(crate) fn seconds_until_expiry(&self) -> Option<i64> {
        let served = self.served.load()?;
        let leaf = served.cert.first().and_then(|der| parse_fields(der))?;
        Some(leaf.until - self.clock.now())
    }

    /// Whether the certificate may be outside its dates by the clock of some machine.
    pub(crate) fn may_be_outside_dates(&self) -> bool {
        // Without one the standing is not ready anyway.
        let Some(served) = self.served.load() else { return false };
        let Some(leaf) = served.cert.first().and_then(|der| parse_fields(der)) else { return false };
        let now = self.clock.now();
        let early = self.lives.map_or(0, |lives| lives.last_seconds_of_leaf(leaf.until - leaf.from));
        now < leaf.from || now >= leaf.until - early
    }
}

#[cfg(test)]
impl DatesOfServedCertificate {
    /// Of a self-managed certificate that was issued so many seconds ago.
    pub(crate) fn of_age(seconds: i64) -> Self {
        let (served, lives) = (Arc::<ServedCertificate>::default(), Lifetimes::DEFAULT);
        let then = Clock::default().now() - seconds;
        let signer = super::issue_certificates::create_ca(then, &lives).unwrap();
        served.replace_certificate(
            super::issue_certificates::sign_leaf(&signer, &["x".to_owned()], then, 0, &lives).unwrap().0,
        );
        Self { served, clock: Clock::default(), lives: Some(lives) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_near_its_end_twenty_minutes_before_it() {
        let near = |seconds| DatesOfServedCertificate::of_age(seconds).may_be_outside_dates();
        assert_eq!([0, 71 * 3600].map(near), [false, false]);
        assert_eq!([72 * 3600 - 1000, 72 * 3600 + 1000].map(near), [true, true]);
        assert!(near(-3600), "not valid yet");
        assert!(!DatesOfServedCertificate::default().may_be_outside_dates(), "no certificate at all");
        assert!(
            DatesOfServedCertificate::of_age(3600)
                .seconds_until_expiry()
                .is_some_and(|left| (70 * 3600..72 * 3600).contains(&left))
        );
        assert_eq!(DatesOfServedCertificate::default().seconds_until_expiry(), None);
    }
}
