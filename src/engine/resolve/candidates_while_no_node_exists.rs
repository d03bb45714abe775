//! The profiles of a pod while no node exists that it can run on: its selectors are the evidence.

use super::which_candidate_of_nodes_wins::Candidates;
use super::{Conditions, Strength};
use crate::demands::Subject;

/// The profiles that the selectors of a pod leave while it has no node, and whether they ask for the nodes of one.
pub(super) fn candidates_by_selectors_alone(
    conditions: &Conditions<'_>,
    subject: &Subject<'_>,
) -> (Candidates, bool) {
    let snapshot = subject.snapshot;
    let admitted = snapshot.profiles().filter(|p| snapshot.admits(p, subject.namespace));
    let admitted = admitted.take_while(|_| conditions.may_compare_another(subject.deadline));
    let (asked, open): (Vec<_>, Vec<_>) = admitted
        .filter(|p| conditions.may_fit_nodes_of(p))
        .partition(|p| conditions.strength(p) > Strength::Open);
    let mut found = Candidates::default();
    for profile in &asked {
        found.add_if_when_is_met(profile, subject);
    }
    // Where nobody has listed the nodes, any may exist, and a pod that asks for no profile gets none by its selectors.
    let counts = snapshot.knows_nodes() || !asked.is_empty();
    for profile in open.into_iter().filter(|_| counts) {
        found.add_if_when_is_met(profile, subject);
    }
    (found, !asked.is_empty())
}
