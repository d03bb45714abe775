//! Placement: the profile's nodes as required node affinity, beside the pod's own requirements.
//!
//! The terms of a node selector are ORed and the requirements of a term ANDed (k8s.io/component-helpers
//! scheduling/corev1/nodeaffinity/nodeaffinity.go), so the profile's requirements are added to each of the user's
//! terms. A separate term would admit more nodes.

use super::{Change, Edit, OwnFieldKept, Reason};
use crate::pod::PodView;
use crate::pod::affinity_and_tolerations::{NodeSelectorRequirement, NodeSelectorTerm};
use crate::profile::schema::SelectorExpression;
use crate::profile::{NodeAffinity, Profile};
use crate::resolve::Evidence;
use std::collections::BTreeSet;

/// What a requirement takes in a patch beside its key and its values (bytes).
const BYTES_OF_REQUIREMENT: usize = 40;

/// The same for a value.
const BYTES_OF_VALUE: usize = 3;

/// Most terms that are changed. Real pods have a few; the patch of a pod with more would exceed etcd's limit.
const MAX_TERMS: usize = 256;

/// Most bytes that the requirements of a profile may take in all terms of a pod that has several. A profile may list 1,024 values of
/// 63 bytes, and they are added to each term.
const MAX_BYTES_IN_TERMS: usize = 128 << 10;

/// The missing requirements. A pod is kept to the nodes of a profile that it gets for its priority even where the profile
/// does not ask for it.
pub(super) fn plan(
    pod: &PodView<'_>,
    profile: &Profile,
    evidence: &Evidence,
) -> (Vec<Change>, Vec<OwnFieldKept>) {
    let mut changes = Vec::new();
    let wanted = *evidence == Evidence::Priority || profile.node_affinity == NodeAffinity::Required;
    let Some(selector) = profile.node_selector.as_ref().filter(|_| wanted) else {
        return (changes, Vec::new());
    };
    // The pod's own node selector is ANDed with its affinity: what it says need not be said again.
    let said = |r: &SelectorExpression| {
        pod.node_selector_value(&r.key).is_some_and(|v| r.as_label_requirement().holds(Some(v)))
    };
    let missing: Vec<SelectorExpression> =
        selector.labels_and_expressions().into_iter().filter(|r| !said(r)).collect();
    let required = pod.affinity().and_then(|a| a.node_affinity.as_ref()?.required.as_ref());
    let terms = required.map(|r| r.node_selector_terms.as_deref().unwrap_or_default());
    // A selector without terms matches no node, and the API server refuses it (k8s.io/kubernetes
    // pkg/apis/core/validation, ValidateNodeSelector). We do not make it valid.
    if terms.is_some_and(<[_]>::is_empty) {
        return (changes, Vec::new());
    }
    if let Some(many) = terms.map(<[_]>::len).filter(|many| *many > MAX_TERMS) {
        return (changes, vec![OwnFieldKept::NodeTerms(many)]);
    }
    let terms = terms.unwrap_or_default();
    let bytes_of = |r: &SelectorExpression| {
        r.values
            .iter()
            .fold(BYTES_OF_REQUIREMENT + r.key.len(), |sum, value| sum + value.len() + BYTES_OF_VALUE)
    };
    let bytes = missing.iter().map(bytes_of).sum::<usize>();
    if terms.len() > 1 && bytes.saturating_mul(terms.len()) > MAX_BYTES_IN_TERMS {
        return (changes, vec![OwnFieldKept::NodeTerms(terms.len())]);
    }
    let empty = NodeSelectorTerm::default();
    let fresh = terms.is_empty().then_some(&empty);
    for (term, own) in terms.iter().chain(fresh).enumerate() {
        // A term without requirements matches no node; with the profile's requirements it would match some.
        if !terms.is_empty() && own.is_empty() {
            continue;
        }
        let reason = if terms.len() < 2 {
            format!("nodes of profile {}", profile.name)
        } else {
            format!("nodes of profile {}, in term {} of {}", profile.name, term + 1, terms.len())
        };
        let reason = Reason::Shared(reason.into());
        let absent = missing.iter().filter(|r| !own.expressions().iter().any(|e| is_same(e, r)));
        for (nth, requirement) in absent.enumerate() {
            changes.push(Change {
                edit: Edit::NodeRequirement {
                    term,
                    requirement: requirement.clone(),
                    index: own.expressions().len() + nth,
                },
                reason: reason.clone(),
            });
        }
    }
    // The scheduler never sees a pod that names its node, and the kubelet refuses it over an affinity that fails.
    if pod.node_name().is_some() && !changes.is_empty() {
        return (Vec::new(), vec![OwnFieldKept::NodeName]);
    }
    (changes, Vec::new())
}

/// The order of values does not matter.
fn is_same(own: &NodeSelectorRequirement<'_>, wanted: &SelectorExpression) -> bool {
    own.key.as_deref() == Some(wanted.key.as_str())
        && own.operator.as_deref() == Some(wanted.operator.word())
        && own.values().len() == wanted.values.len()
        && own.values().collect::<BTreeSet<_>>() == wanted.values.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::FabricProfile;

    fn planned(spec: &str, placement: &str, pin: bool) -> Vec<String> {
        let profile = format!(
            r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"p"}},
            "spec":{{"transport":"roce","attachment":"sriov"{placement}}}}}"#
        );
        let profile: FabricProfile = serde_json::from_str(&profile).unwrap();
        let profile = Profile::checked_with_base(&profile, &[]).unwrap();
        let json = format!(r#"{{"spec":{spec}}}"#);
        let pod = serde_json::from_str(&json).unwrap();
        let evidence = if pin { Evidence::Priority } else { Evidence::Nodes };
        let (changes, _) = super::plan(&pod, &profile, &evidence);
        changes.iter().map(|c| c.edit.summary()).collect()
    }

    const NODES: &str = r#","nodeSelector":{"matchLabels":{"fabric":"roce"}}"#;

    #[test]
    fn resolution_may_pin_where_the_profile_does_not() {
        assert_eq!(planned("{}", NODES, true), ["node affinity: fabric In (roce)"]);
        assert!(planned("{}", NODES, false).is_empty());
        // Without a selector there is nothing to pin to.
        assert!(planned("{}", "", true).is_empty());
        assert!(planned(r#"{"nodeName":"n"}"#, NODES, true).is_empty());
    }

    #[test]
    fn a_selector_without_terms_is_not_changed() {
        for list in ["{}", r#"{"nodeSelectorTerms":null}"#, r#"{"nodeSelectorTerms":[]}"#] {
            let spec = format!(
                r#"{{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{list}}}}}}}"#
            );
            assert!(planned(&spec, NODES, true).is_empty(), "{list}");
        }
    }

    #[test]
    fn a_pod_with_too_many_terms_is_not_changed() {
        let term = r#"{"matchExpressions":[{"key":"a","operator":"Exists"}]}"#;
        let spec = |n: usize| {
            let terms = vec![term; n].join(",");
            format!(
                r#"{{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{terms}]}}}}}}}}"#
            )
        };
        assert_eq!(planned(&spec(MAX_TERMS), NODES, true).len(), MAX_TERMS);
        assert!(planned(&spec(MAX_TERMS + 1), NODES, true).is_empty());
    }
}
