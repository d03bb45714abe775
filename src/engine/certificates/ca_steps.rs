//! The state machine of the CA, as a function from the Secret, the configurations and the time to the next write. Any replica
//! may do any step; a replica that loses the compare-and-swap reads again. The function can continue from the state after
//! each write, so a replica may die between any two.
//!
//! ```text
//! none --create--> current --stage--> current, next --(in every caBundle)--> soaking --switch--> current, previous --drain-.
//!                     ^                                                                                               |
//!                     `-----------------------------------------------------------------------------------------------'
//! ```

use super::ca_certificate::Authority;
use super::how_long_marks_were_seen::Seen;
use super::lifetimes::Lifetimes;
use super::what_ca_bundles_hold::Look;
use super::what_ca_secret_holds::{Record, Signer};

/// Previous CAs that are kept. Only several emergencies in a row cause more.
const MAX_PREVIOUS: usize = 8;
/// With this many previous CAs no next one is staged: repeated requests wait for the drain.
const PREVIOUS_CAS_THAT_BLOCK_STAGING: usize = 4;

/// A write to the Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// The Secret does not exist: create it, with a CA.
    Create,
    /// The CA cannot sign and none is staged: create another at once.
    Replace,
    /// The CA cannot sign: use the staged one at once.
    Promote,
    /// Stage a next CA; also in place of one that a fast clock created and that is not valid yet.
    Stage,
    /// The next CA cannot be used: drop it.
    Unstage,
    /// The next CA is in every caBundle from now on.
    Soak,
    /// A caBundle lacks the next CA, which it had before.
    Unsoak,
    /// The next CA becomes the current one.
    Switch,
    /// There are previous CAs without a plausible time of the switch: the wait begins now.
    Wait,
    /// No leaf of a CA before the current one can be valid any more.
    Drain,
}

impl Change {
    /// Whether the step creates a CA.
    #[must_use]
    pub fn creates_ca(self) -> bool {
        matches!(self, Self::Create | Self::Replace | Self::Stage)
    }

    /// Whether it repairs a state that should not occur.
    #[must_use]
    pub fn is_emergency(self) -> bool {
        matches!(self, Self::Replace | Self::Promote)
    }

    /// Its name in logs and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Promote => "promote",
            Self::Stage => "stage",
            Self::Unstage => "unstage",
            Self::Soak => "soak",
            Self::Unsoak => "unsoak",
            Self::Switch => "switch",
            Self::Wait => "wait",
            Self::Drain => "drain",
        }
    }
}

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing now.
    Rest,
    /// Write the Secret.
    Write(Change),
    /// Write the caBundle of the configuration of this number.
    Publish(usize),
}

/// The next step. `seen` is what this replica has seen for itself. `held` says of each configuration whether it is not to be written now: a fight, or no right to it.
/// `calm` is false while emergencies come too fast to help anyone.
#[must_use]
pub fn next(
    record: Option<&Record>,
    looks: &[Look],
    held: &[bool],
    calm: bool,
    (now, seen): (i64, Seen),
    lives: &Lifetimes,
) -> Step {
    let Some(record) = record else { return Step::Write(Change::Create) };
    if record.signer_valid_at(now).is_err() {
        let change = if record.next_signer(now).is_some() { Change::Promote } else { Change::Replace };
        return if calm { Step::Write(change) } else { Step::Rest };
    }
    match &record.next {
        Some(Ok(next)) if next.authority.is_valid_at(now) => {}
        // By our clock, and perhaps by that of API servers. A CA that we create is valid for faster clocks too, so two
        // replicas do not do this in turn.
        Some(Ok(next)) if now < next.authority.from => return Step::Write(Change::Stage),
        Some(_) => return Step::Write(Change::Unstage),
        None => {}
    }
    let staged = record.next_signer(now);
    let known =
        staged.is_some_and(|next| looks.iter().all(|look| look.do_all_webhooks_trust(&next.authority)));
    let lost = staged.is_none_or(|next| looks.iter().any(|look| look.is_known_not_to_trust(&next.authority)));
    // Before the caBundle is repaired: a crash in between must not leave a mark that is older than the repair.
    if record.soaking_since.is_some() && lost {
        return Step::Write(Change::Unsoak);
    }
    let bundle = record.bundle();
    let unpublished = looks.iter().zip(held).position(|(look, held)| {
        !held && matches!(look, Look::Present(_)) && !look.do_all_webhooks_have_bundle(&bundle)
    });
    if let Some(number) = unpublished {
        return Step::Publish(number);
    }
    if staged.is_some() && known {
        let Some(mark) = record.soaking_since else { return Step::Write(Change::Soak) };
        // A mark never moves: by a slow clock it would go back, and a fast one would find it old.
        let age = Record::age(mark, now, lives);
        let soaked = seen.staged >= lives.soak && age.is_none_or(|age| age >= lives.soak_age_when_known());
        return if soaked { Step::Write(Change::Switch) } else { Step::Rest };
    }
    if !record.previous.is_empty() {
        let Some(mark) = record.switched_at else { return Step::Write(Change::Wait) };
        let age = Record::age(mark, now, lives).unwrap_or(seen.switched);
        // However fast our clock is: by then every replica that lives has a leaf of the current CA.
        if age >= lives.switch_age_when_old_leaves_ended() && seen.switched >= lives.soak {
            return Step::Write(Change::Drain);
        }
    }
    let room = record.previous.len() < PREVIOUS_CAS_THAT_BLOCK_STAGING;
    if staged.is_none() && room && (record.rotate || next_ca_is_due(record, now, lives)) {
        return Step::Write(Change::Stage);
    }
    Step::Rest
}

/// Whether half of the CA's life is over, or of the life that CAs have by now.
fn next_ca_is_due(record: &Record, now: i64, lives: &Lifetimes) -> bool {
    let Ok(current) = &record.current else { return false };
    let half = (current.authority.until - current.authority.from).min(lives.ca + lives.backdate()) / 2;
    now >= current.authority.from + half
}

/// The record after a change. `made` is the new CA where one is made; `trusted` are CAs of leaves that may be served by
/// someone though the Secret knows nothing of them.
#[must_use]
pub fn record_after_change(
    record: Option<&Record>,
    change: Change,
    made: Option<Signer>,
    trusted: &[Authority],
    now: i64,
) -> Option<Record> {
    if change == Change::Create {
        let current = made?;
        let previous = previous_cas_without_current(trusted.to_vec(), &current);
        let switched_at = (!previous.is_empty()).then_some(now);
        return Some(Record {
            current: Ok(current),
            next: None,
            previous,
            generation: 1,
            soaking_since: None,
            switched_at,
            rotate: false,
        });
    }
    let mut record = record?.clone();
    match change {
        Change::Create => return None,
        Change::Stage => {
            record.next = Some(Ok(made?));
            record.soaking_since = None;
            record.rotate = false;
        }
        Change::Unstage => {
            record.next = None;
            record.soaking_since = None;
        }
        Change::Soak => record.soaking_since = Some(now),
        Change::Unsoak => record.soaking_since = None,
        Change::Wait => record.switched_at = Some(now),
        Change::Drain => {
            record.previous.clear();
            record.switched_at = None;
        }
        Change::Switch | Change::Promote | Change::Replace => {
            let signer = match made {
                Some(made) => made,
                None => record.next.take()?.ok()?,
            };
            let mut previous: Vec<Authority> = record.current.iter().map(|s| s.authority.clone()).collect();
            // What was staged may be in caBundles, but nobody has signed with it.
            if change.is_emergency() {
                previous.extend(trusted.iter().cloned());
            }
            previous.append(&mut record.previous);
            record.previous = previous_cas_without_current(previous, &signer);
            record.current = Ok(signer);
            record.next = None;
            record.soaking_since = None;
            // With a slow clock's mark the CA before this one would be dropped too early.
            record.switched_at = record.switched_at.max(Some(now));
            record.generation = record.generation.saturating_add(1);
            record.rotate = false;
        }
    }
    Some(record)
}

/// CAs of the past without repetition and without the present one, the last first. Dates are not asked: it may be our
/// clock that is wrong.
fn previous_cas_without_current(all: Vec<Authority>, signer: &Signer) -> Vec<Authority> {
    let mut kept: Vec<Authority> = Vec::new();
    for authority in all {
        let new = authority.pem != signer.authority.pem && kept.iter().all(|k| k.pem != authority.pem);
        if new && kept.len() < MAX_PREVIOUS {
            kept.push(authority);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificates::Key;

    fn signer(pem: &str, from: i64, until: i64) -> Signer {
        let authority = Authority { pem: pem.to_owned(), from, until, name: None, signs: true };
        Signer { authority, key: Key(String::new()) }
    }

    /// It may be our clock that is wrong: others serve leaves of that CA.
    #[test]
    fn a_ca_that_seems_to_have_expired_stays_trusted_until_the_drain() {
        let record = record_after_change(None, Change::Create, Some(signer("a", 0, 100)), &[], 0).unwrap();
        let (looks, seen) = ([Look::Absent, Look::Absent], Seen::default());
        let next = |record: &Record, now: i64| {
            next(Some(record), &looks, &[false; 2], true, (now, seen), &Lifetimes::DEFAULT)
        };
        for now in [100, -1] {
            assert_eq!(next(&record, now), Step::Write(Change::Replace));
            let replaced =
                record_after_change(Some(&record), Change::Replace, Some(signer("b", now, 500)), &[], now)
                    .unwrap();
            assert_eq!(replaced.bundle(), "ba");
        }
        let mut record = record;
        record.next = Some(Ok(signer("n", 0, 200)));
        assert_eq!(next(&record, 100), Step::Write(Change::Promote));
    }
}
