//! A label of the pod's node selector or required affinity that no node has, with the probable spelling.

use crate::nodes::{Constraints, INSTANCE_TYPE_LABEL, Relation, Requirement};
use crate::profile::Profile;
use crate::resolve::admits;
use crate::rules::pod::PodContext;
use crate::text::{misspelt, printable};
use std::fmt;
use std::sync::Arc;

/// Most conditions of a pod that are compared: each costs as much as there are names.
const COMPARED: usize = 16;
/// Most values of a label that are compared.
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
    let published: Vec<Requirement<'_>> =
        profiles.iter().flat_map(|p| p.stated()).filter(|r| r.relation == Relation::In).collect();
    let terms = constraints.terms.iter().flatten().flat_map(|term| &term.labels);
    let asked = constraints.selector.iter().chain(terms).filter(|r| r.relation == Relation::In);
    asked.take(COMPARED).find_map(|r| {
        if r.values.iter().any(|value| nodes.may_have(r.key, value) || selected(context, r.key, value)) {
            return None;
        }
        let wanted = r.values.iter().next()?;
        let written = format!("{}={}", printable(r.key, 80), printable(wanted, 63));
        let of_nodes =
            nodes.label_values(r.key).take(VALUES).filter(|_| !context.subject.snapshot.is_for_tenant());
        let of_profiles = published.iter().filter(|p| p.key == r.key).flat_map(|p| p.values.iter());
        let values = of_profiles.chain(of_nodes).filter(|value| same_family(r.key, wanted, value));
        if let Some(value) = misspelt(wanted, values) {
            return Some(Misspelt { nobody, written, meant: printable(value, 63) });
        }
        if nodes.has_label(r.key) || published.iter().any(|p| p.key == r.key) {
            return None;
        }
        let keys = nodes.label_keys().filter(|_| !context.subject.snapshot.is_for_tenant());
        let keys = published.iter().map(|p| p.key).chain(keys);
        misspelt(r.key, keys).map(|key| Misspelt {
            nobody,
            written,
            meant: format!("label {}", printable(key, 80)),
        })
    })
}

/// Whether a profile that the pod may have selects nodes by this label: nodes with it are possible.
fn selected(context: &PodContext<'_>, key: &str, value: &str) -> bool {
    let subject = &context.subject;
    let mut admitted =
        subject.snapshot.profiles().filter(|p| admits(p, subject.namespace, subject.namespace_facts));
    let by = |r: Requirement<'_>| r.key == key && r.relation == Relation::In && r.values.contains(value);
    admitted.any(|p| p.stated().any(by))
}

/// Whether a value may be the misspelt form of another. Families of instance types differ in a letter: `p5.48xlarge` and
/// `p5e.48xlarge` both exist.
fn same_family(key: &str, a: &str, b: &str) -> bool {
    let family = |name: &str| name.split_once('.').map(|(family, _)| family.to_owned());
    key != INSTANCE_TYPE_LABEL || family(a) == family(b)
}
