//! How long this replica itself has observed the conditions that the marks of the Secret record, by the monotonic clock. A
//! mark compares the wall clocks of two machines, so it is not trusted without this; a mark in the future is waited out
//! here.

use super::what_ca_bundles_hold::Look;
use super::what_ca_secret_holds::Record;

/// Seconds by this replica's monotonic clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// How long this next CA has been in every caBundle at every check.
    pub staged: i64,
    /// How long this CA has been current.
    pub switched: i64,
}

/// The observations, and since when.
#[derive(Debug, Default)]
pub struct Marks {
    staged: Option<(String, i64)>,
    switched: Option<(String, i64)>,
}

impl Marks {
    /// Records what this replica has read now, and returns how long it has been so.
    pub fn record_and_measure(&mut self, record: &Record, looks: &[Look], steady: i64) -> Seen {
        let next = record.next.iter().flatten().map(|next| &next.authority).next();
        let known = next.filter(|next| looks.iter().all(|look| look.do_all_webhooks_trust(next)));
        let current = record.current.as_ref().ok().map(|current| &current.authority);
        Seen {
            staged: seen_since(&mut self.staged, known.map(|next| next.pem.as_str()), steady),
            switched: seen_since(&mut self.switched, current.map(|current| current.pem.as_str()), steady),
        }
    }
}

fn seen_since(seen: &mut Option<(String, i64)>, what: Option<&str>, steady: i64) -> i64 {
    if seen.as_ref().map(|(known, _)| known.as_str()) != what {
        *seen = what.map(|what| (what.to_owned(), steady));
    }
    seen.as_ref().map_or(0, |(_, at)| steady - at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificates::{Authority, Key, Signer};

    fn signer(pem: &str) -> Signer {
        let authority = Authority { pem: pem.to_owned(), from: 0, until: 100, name: None, signs: true };
        Signer { authority, key: Key(String::new()) }
    }

    #[test]
    fn a_lapse_and_another_ca_begin_anew() {
        let mut record = Record {
            current: Ok(signer("a")),
            next: Some(Ok(signer("b"))),
            previous: Vec::new(),
            generation: 1,
            soaking_since: None,
            switched_at: None,
            rotate: false,
        };
        let mut marks = Marks::default();
        let mut look = |record: &Record, bundle: &str, steady| {
            let Seen { staged, switched } =
                marks.record_and_measure(record, &[Look::Present(vec![bundle.into()]), Look::Absent], steady);
            (staged, switched)
        };
        assert_eq!(look(&record, "a", 10), (0, 0));
        assert_eq!(look(&record, "ab", 20), (0, 10));
        assert_eq!(look(&record, "ab", 30), (10, 20));
        assert_eq!(look(&record, "a", 40), (0, 30));
        assert_eq!(look(&record, "ab", 50), (0, 40));
        assert_eq!(look(&record, "ab", 60), (10, 50));
        record.next = Some(Ok(signer("c")));
        assert_eq!(look(&record, "abc", 70), (0, 60));
        (record.current, record.next) = (Ok(signer("c")), None);
        assert_eq!(look(&record, "ac", 80), (0, 0));
        assert_eq!(look(&record, "ac", 90), (0, 10));
    }
}
