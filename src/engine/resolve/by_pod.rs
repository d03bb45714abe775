//! The pod's own evidence: resources it asks for and networks it attaches.

use super::Evidence;
use crate::demands::Subject;
use crate::profile::Profile;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The profiles that the pod's own resources and networks select.
pub(super) enum Own {
    Nothing,
    One(Arc<Profile>, Evidence),
    /// Two profiles: with either, the pod would have rails of both.
    Several(Vec<Arc<Profile>>),
}

/// Most resources and networks that are checked; a pod has far fewer.
const MAX_EVIDENCE: usize = 64;

/// The profiles that a resource the pod asks for, or a network it attaches, belongs to alone. All of the evidence
/// counts, so that the answer does not depend on its order, or on which webhook added what.
pub(super) fn evidence(subject: &Subject<'_>) -> Own {
    let snapshot = subject.snapshot;
    let only = |having: &[Arc<Profile>], fits: &dyn Fn(&Profile) -> bool| {
        let mut found = having.iter().filter(|p| fits(p) && snapshot.admits(p, subject.namespace));
        let first = found.next()?;
        found.next().is_none().then(|| Arc::clone(first))
    };
    let mut evidence: BTreeMap<String, (Arc<Profile>, Evidence)> = BTreeMap::new();
    let mut add = |found: Option<Arc<Profile>>, what: &dyn Fn() -> Evidence| {
        if let Some(profile) = found
            && !evidence.contains_key(&profile.name)
        {
            evidence.insert(profile.name.clone(), (profile, what()));
        }
    };
    let asked =
        subject.pod.containers().iter().flat_map(|c| {
            c.resource_names().filter(move |name| c.units(name).is_some_and(|units| units > 0))
        });
    for resource in asked.take(MAX_EVIDENCE) {
        add(only(snapshot.catalog().with_resource(resource), &|_| true), &|| {
            Evidence::Resource(resource.to_owned())
        });
    }
    for item in subject.readable_networks().iter().flat_map(|n| &n.items).take(MAX_EVIDENCE) {
        let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
        let has =
            |p: &Profile| p.rails.iter().any(|r| r.network.is(namespace, &item.name, subject.namespace));
        add(only(snapshot.catalog().with_network(&item.name), &has), &|| {
            Evidence::Network(format!("{namespace}/{}", item.name))
        });
    }
    if evidence.len() > 1 {
        return Own::Several(evidence.into_values().map(|(profile, _)| profile).collect());
    }
    evidence.into_values().next().map_or(Own::Nothing, |(profile, what)| Own::One(profile, what))
}
