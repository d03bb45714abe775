//! When a replica renews its leaf, the serving certificate, and by which CA. The leaf in use stays until the next one is
//! known to be trusted.

use super::lifetimes::Lifetimes;
use super::what_ca_bundles_hold::Look;
use super::what_ca_secret_holds::{Record, Signer};

/// The leaf in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The CA that signed it (PEM).
    pub issuer: String,
    /// First second of its validity.
    pub from: i64,
    /// When it was signed.
    pub signed: i64,
    /// Last second of its validity.
    pub until: i64,
    /// When the next is due.
    pub renewal: i64,
}

impl Leaf {
    /// When nine tenths of its life are over: the renewal is overdue.
    #[must_use]
    pub fn last_tenth(&self) -> i64 {
        self.until - (self.until - self.signed) / 10
    }
}

impl Lifetimes {
    /// When a leaf is renewed: at two thirds of its life, earlier or later by a tenth as `jitter` (0 to 1000) says, so
    /// that replicas do not do it together.
    #[must_use]
    pub fn renew_at(&self, signed: i64, until: i64, jitter: i64) -> i64 {
        let life = (until - signed).max(0);
        signed + life * 2 / 3 + life * (jitter.clamp(0, 1000) - 500) / 5000
    }
}

/// Why another leaf is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// There is none.
    First,
    /// Two thirds of its life are over.
    Renewal,
    /// Another CA signs.
    Authority,
    /// It does not verify, so a leaf of the current CA loses nothing.
    Distrusted,
    /// Its end is near, and the Secret was not read for long or has no usable CA: a leaf of the last known CA is better than
    /// none.
    LastResort,
}

impl Reason {
    /// Its name in logs and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Renewal => "renewal",
            Self::Authority => "authority",
            Self::Distrusted => "distrusted",
            Self::LastResort => "last_resort",
        }
    }
}

/// Whether another leaf is to be signed by the current CA of `record`, which was read just now (`fresh`) or is what was
/// last known. `verifies`: the one that is served does under every caBundle, as far as known. `settled`: the caBundles
/// have been what they are for long enough that API servers know them.
#[must_use]
pub fn leaf_is_due(
    leaf: Option<&Leaf>,
    record: &Record,
    looks: &[Look],
    (fresh, verifies, settled): (bool, bool, bool),
    now: i64,
) -> Option<Reason> {
    let current = record.signer_valid_at(now).ok()?;
    let Some(leaf) = leaf else { return fresh.then_some(Reason::First) };
    // After a fast clock is corrected, the leaf is not valid yet.
    let early = now < leaf.from;
    let renewal = now >= leaf.renewal || early;
    if !fresh {
        // The CA may have been retired meanwhile, and its leaf must not live on: so only near the end.
        return (now >= leaf.last_tenth() || early).then_some(Reason::LastResort);
    }
    let ours = leaf.issuer == current.authority.pem;
    if ours {
        return renewal.then_some(Reason::Renewal);
    }
    let trusted = looks.iter().all(|look| look.do_all_webhooks_trust(&current.authority));
    if trusted && settled {
        return Some(Reason::Authority);
    }
    (!verifies || now >= leaf.until || early).then_some(Reason::Distrusted)
}

/// Whether another leaf is to be signed by the CA of the one that is served though the Secret, read just now, has none that
/// can sign. Only where every caBundle has that CA: then the new leaf is believed wherever the old one is.
#[must_use]
pub fn may_renew_with_ca_missing_from_secret(leaf: &Leaf, signer: &Signer, looks: &[Look], now: i64) -> bool {
    let authority = &signer.authority;
    now >= leaf.last_tenth()
        && leaf.issuer == authority.pem
        && authority.is_valid_at(now)
        && looks.iter().all(|look| look.do_all_webhooks_trust(authority))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificates::{Authority, Key};

    fn authority(pem: &str) -> Authority {
        Authority { pem: pem.to_owned(), from: -100, until: 10_000, name: None, signs: true }
    }

    fn record(pem: &str) -> Record {
        let current = Ok(Signer { authority: authority(pem), key: Key(String::new()) });
        Record {
            current,
            next: None,
            previous: Vec::new(),
            generation: 1,
            soaking_since: None,
            switched_at: None,
            rotate: false,
        }
    }

    #[test]
    fn a_leaf_is_signed_when_it_helps() {
        let leaf = Leaf { issuer: "a".into(), from: -20, signed: 0, until: 300, renewal: 200 };
        let with = |pem: &str| vec![Look::Present(vec![pem.as_bytes().to_vec()]), Look::Absent];
        let due = |leaf: Option<&Leaf>, ca, bundle, sights, now| {
            leaf_is_due(leaf, &record(ca), &with(bundle), sights, now)
        };
        let all = (true, true, true);
        assert_eq!(due(None, "a", "", (true, false, false), 0), Some(Reason::First));
        assert_eq!(due(None, "a", "a", (false, false, false), 0), None);
        assert_eq!(due(Some(&leaf), "a", "a", all, 199), None);
        assert_eq!(due(Some(&leaf), "a", "a", all, 200), Some(Reason::Renewal));
        // A clock that was ahead: the leaf is not valid yet.
        assert_eq!(due(Some(&leaf), "a", "a", all, -20), None);
        assert_eq!(due(Some(&leaf), "a", "a", all, -21), Some(Reason::Renewal));
        assert_eq!(due(Some(&leaf), "a", "a", (false, false, true), -21), Some(Reason::LastResort));
        assert_eq!(due(Some(&leaf), "b", "a", all, -21), Some(Reason::Distrusted));
        assert_eq!(due(Some(&leaf), "a", "a", all, -101), None, "nor is the CA");
        // Another CA: not before it is trusted, unless nothing is lost by it.
        assert_eq!(due(Some(&leaf), "b", "ab", all, 100), Some(Reason::Authority));
        assert_eq!(due(Some(&leaf), "b", "ab", (true, true, false), 100), None);
        assert_eq!(due(Some(&leaf), "b", "a", all, 250), None);
        assert_eq!(due(Some(&leaf), "b", "", (true, false, true), 100), Some(Reason::Distrusted));
        assert_eq!(due(Some(&leaf), "b", "a", all, 300), Some(Reason::Distrusted));
        // The API server is away.
        assert_eq!(due(Some(&leaf), "a", "a", (false, true, true), 269), None);
        assert_eq!(due(Some(&leaf), "a", "a", (false, true, true), 270), Some(Reason::LastResort));
        assert_eq!(due(Some(&leaf), "a", "a", all, 10_000), None, "the CA is over");
    }
    #[test]
    fn without_a_secret_only_the_ca_that_everybody_trusts_signs() {
        let leaf = Leaf { issuer: "a".into(), from: -20, signed: 0, until: 300, renewal: 200 };
        let signer = |pem: &str| Signer { authority: authority(pem), key: Key(String::new()) };
        let with = |pem: &str| vec![Look::Present(vec![pem.as_bytes().to_vec()]), Look::Absent];
        assert!(may_renew_with_ca_missing_from_secret(&leaf, &signer("a"), &with("ab"), 270));
        assert!(
            !may_renew_with_ca_missing_from_secret(&leaf, &signer("a"), &with("ab"), 269),
            "there is time"
        );
        assert!(
            !may_renew_with_ca_missing_from_secret(&leaf, &signer("a"), &with("b"), 270),
            "nobody would believe it"
        );
        assert!(!may_renew_with_ca_missing_from_secret(&leaf, &signer("a"), &[Look::Unknown], 270));
        assert!(
            !may_renew_with_ca_missing_from_secret(&leaf, &signer("b"), &with("ab"), 270),
            "of another CA"
        );
        let old = Leaf { until: 20_000, ..leaf };
        assert!(
            !may_renew_with_ca_missing_from_secret(&old, &signer("a"), &with("a"), 19_000),
            "the CA is over"
        );
    }

    #[test]
    fn a_leaf_is_renewed_around_two_thirds() {
        let lives = Lifetimes::DEFAULT;
        assert_eq!(
            (lives.renew_at(0, 3000, 500), lives.renew_at(0, 3000, 0), lives.renew_at(0, 3000, 1000)),
            (2000, 1700, 2300)
        );
    }
}
