//! A label of the pod's node selector or required affinity that no node has, with the probable spelling.

use crate::nodes::{INSTANCE_TYPE_LABEL, LabelRequirement, NodeConstraintsOfPod, Relation};
use crate::profile::Profile;
use crate::rules::pod_context::PodContext;
use crate::text::{escaped_and_cut, name_meant_by_misspelt};
use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Most conditions of a pod that are compared: each costs as much as there are names.
const MAX_CONDITIONS_COMPARED: usize = 16;
/// Most values of a label that are compared, of nodes and of profiles.
const MAX_VALUES_COMPARED: usize = 1024;

/// `no node has fabric=rcoe; did you mean roce?`
pub(super) struct Misspelt {
    /// Who has no such label, as far as the audience may know.
    nobody: &'static str,
    written: String,
    meant: String,
}

impl fmt::Display for Misspelt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}; did you mean {}?", self.nobody, self.written, self.meant)
    }
}

/// The first condition of a pod with a probable spelling mistake. A tenant may know the selectors of profiles that admit
/// its namespace; only an admin may know what labels the nodes have.
pub(super) fn find_misspelt_label_or_value(
    context: &PodContext<'_>,
    constraints: &NodeConstraintsOfPod<'_>,
    profiles: &[Arc<Profile>],
) -> Option<Misspelt> {
    let nodes = context.subject.snapshot.nodes_for_audience();
    let nobody = match context.subject.snapshot.is_for_anyone() {
        true => "no profile selects nodes with",
        false if nodes.is_empty() => return None,
        false => "no node has",
    };
    let terms = constraints.terms.iter().flatten().flat_map(|term| &term.labels);
    let asked = constraints.selector.iter().chain(terms).filter(|r| r.relation == Relation::In);
    let asked: Vec<LabelRequirement<'_>> = asked.take(MAX_CONDITIONS_COMPARED).copied().collect();
    let (subject, catalog) = (&context.subject, context.subject.snapshot.catalog());
    let admitted = LazyCell::new(|| {
        let all = subject.snapshot.profiles().filter(|p| subject.snapshot.admits(p, subject.namespace));
        all.map(|p| p.name.as_str()).collect::<BTreeSet<&str>>()
    });
    // Only conditions of the profiles that the tenant may know are visited, or the place where the hints end would reveal how
    // many others there are. Workloads may have hundreds of templates, so that visits count as comparisons do.
    let published = || {
        let conditions = profiles.iter().flat_map(|profile| profile.all_node_requirements());
        let listing = conditions.filter(|condition| condition.relation == Relation::In);
        listing.take_while(|_| subject.deadline.take_lookups(1))
    };
    asked.iter().find_map(|r| {
        let listed = catalog.values_listed_for_label(r.key);
        // Nodes with what a profile that the pod may have selects are possible.
        let selects = |value: &str| {
            let may_ask = subject.deadline.take_lookups(admitted.len().max(1));
            let having = listed.and_then(|l| l.values.get(value)).map(Vec::as_slice).unwrap_or_default();
            may_ask.then(|| having.iter().any(|p| admitted.contains(p.name.as_str())))
        };
        for value in r.values.iter().collect::<BTreeSet<_>>() {
            if nodes.may_have_label_value(r.key, value) || selects(value)? {
                return None;
            }
        }
        let wanted = r.values.iter().next()?;
        let written = format!("{}={}", escaped_and_cut(r.key, 80), escaped_and_cut(wanted, 63));
        let of_nodes = nodes
            .shared_label_values(r.key)
            .take(MAX_VALUES_COMPARED)
            .filter(|_| !context.subject.snapshot.is_not_for_operator());
        let listing = published().filter(|condition| condition.key == r.key);
        let mut is_label_published = false;
        let of_profiles: BTreeSet<&str> = listing
            .inspect(|_| is_label_published = true)
            .flat_map(|condition| condition.values.iter())
            .take(MAX_VALUES_COMPARED)
            .collect();
        let values =
            subject.deadline.take_names_within_budgets(wanted, of_profiles.into_iter().chain(of_nodes));
        if let Some(value) =
            name_meant_by_misspelt(wanted, values.filter(|value| same_family(r.key, wanted, value)))
        {
            return Some(Misspelt { nobody, written, meant: escaped_and_cut(value, 63) });
        }
        if nodes.may_have_label(r.key) || is_label_published {
            return None;
        }
        let keys = nodes.label_keys().filter(|_| !context.subject.snapshot.is_not_for_operator());
        let of_profiles: BTreeSet<&str> = published().map(|condition| condition.key).collect();
        let keys = of_profiles.into_iter().chain(keys);
        name_meant_by_misspelt(r.key, subject.deadline.take_names_within_budgets(r.key, keys))
            .map(|key| Misspelt { nobody, written, meant: format!("label {}", escaped_and_cut(key, 80)) })
    })
}

/// Whether a value may be the misspelt form of another. Families of instance types differ in a letter: `p5.48xlarge` and
/// `p5e.48xlarge` both exist.
fn same_family(key: &str, a: &str, b: &str) -> bool {
    let family = |name: &str| name.split_once('.').map(|(family, _)| family.to_owned());
    key != INSTANCE_TYPE_LABEL || family(a) == family(b)
}
