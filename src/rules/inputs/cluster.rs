//! FAB8xx: the cluster as it is known.

use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB813.
pub(super) struct OldFacts;

static OLD_FACTS: Meta = Meta {
    id: "FAB813",
    severity: Severity::Warning,
    summary: "what is known of the cluster is old",
    what: "The server watches a cluster, and of some kinds of objects the API server was not heard for longer than \
           `--stale-after` (ten minutes). Bookmarks and renewed watches make a healthy watch heard every two minutes.",
    why: "Profiles, nodes and networks may have changed since. Answers go on from what is known, so that a cluster whose \
          control plane is in trouble does not lose its pods as well.",
    fix: "See the server's log and metric `fabric_admission_watch_state`: the API server is away, or the network to it, or \
          a right is missing.",
    bad: "",
    good: "",
    sources: &["kubernetes.io, Efficient detection of changes: bookmarks"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for OldFacts {
    fn meta(&self) -> &'static Meta {
        &OLD_FACTS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let stale = context.snapshot.stale();
        if !stale.is_empty() && context.resolution.profile().is_some() {
            let message = format!("nothing was heard of the cluster's {} for a while", stale.join(", "));
            findings.add(
                "",
                message,
                "ask the operators of this webhook; the answer follows from older facts",
            );
        }
    }
}
