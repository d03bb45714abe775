//! A label of the pod's node selector or required affinity that no node has, with the probable spelling.

use crate::nodes::{Constraints, INSTANCE_TYPE_LABEL, Relation, Requirement};
use crate::profile::Profile;
use crate::resolve::admits;
use crate::rules::pod::PodContext;
use crate::text::{misspelt, printable};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Most conditions of a pod that are compared: each costs as much as there are names.
const COMPARED: usize = 16;
/// Most values of a label that are compared, of nodes and of profiles.
const VALUES: usize = 1024;

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
pub(super) fn find(
    context: &PodContext<'_>,
    constraints: &Constraints<'_>,
    profiles: &[Arc<Profile>],
) -> Option<Misspelt> {
    let nodes = context.subject.snapshot.nodes();
    let nobody = match context.subject.snapshot.is_for_anyone() {
        true => "no profile selects nodes with",
        false if nodes.is_empty() => return None,
        false => "no node has",
    };
    let terms = constraints.terms.iter().flatten().flat_map(|term| &term.labels);
    let asked = constraints.selector.iter().chain(terms).filter(|r| r.relation == Relation::In);
    let asked: Vec<Requirement<'_>> = asked.take(COMPARED).copied().collect();
    let keys: BTreeSet<&str> = asked.iter().map(|r| r.key).collect();
    let published = listed(profiles.iter().flat_map(|p| p.stated()), &keys);
    let subject = &context.subject;
    let admitted = subject.snapshot.profiles().map(|p| &**p);
    let admitted = admitted.filter(|p| admits(p, subject.namespace, subject.namespace_facts));
    // Nodes with what a profile that the pod may have selects are possible.
    let selected = listed(admitted.flat_map(Profile::stated), &keys);
    let lists = |r: &Requirement<'_>| r.relation == Relation::In;
    let published_keys = || profiles.iter().flat_map(|p| p.stated()).filter(lists).map(|r| r.key);
    let selects = |key: &str, value: &str| selected.get(key).is_some_and(|values| values.contains(value));
    asked.iter().find_map(|r| {
        if r.values.iter().any(|value| nodes.may_have(r.key, value) || selects(r.key, value)) {
            return None;
        }
        let wanted = r.values.iter().next()?;
        let written = format!("{}={}", printable(r.key, 80), printable(wanted, 63));
        let of_nodes =
            nodes.label_values(r.key).take(VALUES).filter(|_| !context.subject.snapshot.is_for_tenant());
        let of_profiles = published.get(r.key).into_iter().flatten().copied().take(VALUES);
        let values = of_profiles.chain(of_nodes).filter(|value| same_family(r.key, wanted, value));
        if let Some(value) = misspelt(wanted, values) {
            return Some(Misspelt { nobody, written, meant: printable(value, 63) });
        }
        if nodes.has_label(r.key) || published.contains_key(r.key) {
            return None;
        }
        let keys = nodes.label_keys().filter(|_| !context.subject.snapshot.is_for_tenant());
        let keys = published_keys().collect::<BTreeSet<_>>().into_iter().chain(keys);
        misspelt(r.key, keys).map(|key| Misspelt {
            nobody,
            written,
            meant: format!("label {}", printable(key, 80)),
        })
    })
}

/// The values that profiles list for some labels.
fn listed<'p>(
    stated: impl Iterator<Item = Requirement<'p>>,
    keys: &BTreeSet<&str>,
) -> BTreeMap<&'p str, BTreeSet<&'p str>> {
    let mut listed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for requirement in stated.filter(|r| r.relation == Relation::In && keys.contains(r.key)) {
        listed.entry(requirement.key).or_default().extend(requirement.values.iter());
    }
    listed
}

/// Whether a value may be the misspelt form of another. Families of instance types differ in a letter: `p5.48xlarge` and
/// `p5e.48xlarge` both exist.
fn same_family(key: &str, a: &str, b: &str) -> bool {
    let family = |name: &str| name.split_once('.').map(|(family, _)| family.to_owned());
    key != INSTANCE_TYPE_LABEL || family(a) == family(b)
}
