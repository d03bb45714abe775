//! Taints and tolerations as the scheduler reads them.

use std::collections::{BTreeMap, BTreeSet};

/// A taint that describes a node's purpose.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Taint {
    /// Key.
    pub key: Box<str>,
    /// Value; often empty.
    pub value: Box<str>,
    /// `NoSchedule` or `NoExecute`.
    pub effect: Box<str>,
}

/// Taints that come and go during a node's life: they prove nothing about its fabric, and a rank that is created
/// while a node has one must get the same answer as its peers. An entry that ends in a slash is a prefix.
const PASSING_TAINTS: &[&str] = &[
    // Cordon, pressure, readiness: kubernetes/kubernetes pkg/controller/nodelifecycle.
    "node.kubernetes.io/",
    // Until the cloud controller has seen the node: kubernetes/cloud-provider api/well_known_taints.go.
    "node.cloudprovider.kubernetes.io/",
    // kubernetes/autoscaler cluster-autoscaler/utils/taints/taints.go.
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
    // kubernetes-sigs/karpenter pkg/apis/v1/taints.go.
    "karpenter.sh/disrupted",
    "karpenter.sh/disruption",
    "karpenter.sh/unregistered",
    // Until the CSI driver runs, and before an instance is reclaimed; by their documentation.
    "ebs.csi.aws.com/agent-not-ready",
    "aws-node-termination-handler/",
    "cloud.google.com/impending-node-termination",
    // While Cluster API sets a node up or replaces it: kubernetes-sigs/cluster-api api/core/v1beta1.
    "node.cluster.x-k8s.io/",
    // Until the CNI agent runs: cilium/cilium Documentation/installation/taints.rst.
    "node.cilium.io/agent-not-ready",
];

impl Taint {
    /// A taint that counts: not `PreferNoSchedule`, which is only a preference, and not a passing taint.
    #[must_use]
    pub fn new_if_lasting(key: &str, value: &str, effect: &str) -> Option<Self> {
        let passing =
            PASSING_TAINTS.iter().any(|p| if p.ends_with('/') { key.starts_with(p) } else { key == *p });
        let keeps_away = matches!(effect, "NoSchedule" | "NoExecute");
        (keeps_away && !passing).then(|| Self { key: key.into(), value: value.into(), effect: effect.into() })
    }
}

impl std::fmt::Display for Taint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}:{}", self.key, self.effect)
        } else {
            write!(f, "{}={}:{}", self.key, self.value, self.effect)
        }
    }
}

/// An entry of `spec.tolerations`; empty texts for absent fields.
#[derive(Debug, Clone, Copy)]
pub struct Toleration<'a> {
    /// Key; empty with `Exists` means every key.
    pub key: &'a str,
    /// `Equal` (default), `Exists`, `Lt` or `Gt`.
    pub operator: &'a str,
    /// Value.
    pub value: &'a str,
    /// Effect; empty means every effect.
    pub effect: &'a str,
}

/// The tolerations of a pod by key and effect, each once: a pod may have thousands, and nodes thousands of taints.
#[derive(Debug, Default, Hash)]
pub struct Tolerations<'a> {
    exists: BTreeSet<(&'a str, &'a str)>,
    equal: BTreeSet<(&'a str, &'a str, &'a str)>,
    /// The least number that a taint's value must be greater than.
    above: BTreeMap<(&'a str, &'a str), i64>,
    /// The greatest number that a taint's value must be less than.
    below: BTreeMap<(&'a str, &'a str), i64>,
}

impl<'a> FromIterator<Toleration<'a>> for Tolerations<'a> {
    fn from_iter<I: IntoIterator<Item = Toleration<'a>>>(tolerations: I) -> Self {
        let mut all = Self::default();
        for toleration in tolerations {
            let of = (toleration.key, toleration.effect);
            match (toleration.operator, number(toleration.value)) {
                ("" | "Equal", _) => {
                    all.equal.insert((of.0, of.1, toleration.value));
                }
                ("Exists", _) => {
                    all.exists.insert(of);
                }
                // Numeric comparison: feature gate TaintTolerationComparisonOperators. If the gate is off, the API server
                // refuses the pod.
                ("Gt", Some(n)) => {
                    all.above.entry(of).and_modify(|v| *v = n.min(*v)).or_insert(n);
                }
                ("Lt", Some(n)) => {
                    all.below.entry(of).and_modify(|v| *v = n.max(*v)).or_insert(n);
                }
                _ => {}
            }
        }
        all
    }
}

impl Tolerations<'_> {
    /// Whether one of them tolerates a taint (kubernetes/api core/v1/toleration.go, `ToleratesTaint`): an empty key is for
    /// every key, an empty effect for every effect.
    #[must_use]
    pub fn tolerate(&self, taint: &Taint) -> bool {
        let value = &*taint.value;
        [("", ""), ("", &*taint.effect), (&*taint.key, ""), (&*taint.key, &*taint.effect)].iter().any(|of| {
            let greater = || self.above.get(of).zip(number(value)).is_some_and(|(bound, n)| n > *bound);
            let less = || self.below.get(of).zip(number(value)).is_some_and(|(bound, n)| n < *bound);
            self.exists.contains(of) || self.equal.contains(&(of.0, of.1, value)) || greater() || less()
        })
    }
}

fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: (&str, &str, &str) = ("nvidia.com/gpu", "present", "NoSchedule");

    fn taint() -> Taint {
        Taint::new_if_lasting(GPU.0, GPU.1, GPU.2).unwrap()
    }

    fn toleration<'a>(key: &'a str, operator: &'a str, value: &'a str, effect: &'a str) -> Toleration<'a> {
        Toleration { key, operator, value, effect }
    }

    #[test]
    fn tolerations_match_as_in_kubernetes() {
        for yes in [
            toleration("nvidia.com/gpu", "Exists", "", ""),
            toleration("", "Exists", "", ""),
            toleration("nvidia.com/gpu", "", "present", "NoSchedule"),
            toleration("nvidia.com/gpu", "Equal", "present", ""),
        ] {
            assert!(Tolerations::from_iter([yes]).tolerate(&taint()), "{yes:?}");
        }
        for no in [
            toleration("nvidia.com/gpu", "Equal", "", ""),
            toleration("nvidia.com/gpu", "Exists", "", "NoExecute"),
            toleration("amd.com/gpu", "Exists", "", ""),
            toleration("nvidia.com/gpu", "exists", "", ""),
        ] {
            assert!(!Tolerations::from_iter([no]).tolerate(&taint()), "{no:?}");
        }
    }

    #[test]
    fn numbers_are_compared() {
        let taint = Taint::new_if_lasting("sla", "950", "NoSchedule").unwrap();
        for (operator, values, yes) in [
            ("Gt", ["900", "990"], true),
            ("Gt", ["950", "990"], false),
            ("Lt", ["990", "900"], true),
            ("Lt", ["950", "x"], false),
        ] {
            let all = values.map(|value| toleration("sla", operator, value, ""));
            assert_eq!(Tolerations::from_iter(all).tolerate(&taint), yes, "{operator} {values:?}");
        }
    }

    #[test]
    fn passing_taints_do_not_count() {
        for key in
            ["node.kubernetes.io/unschedulable", "karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler"]
        {
            assert!(Taint::new_if_lasting(key, "", "NoSchedule").is_none(), "{key}");
        }
        assert!(Taint::new_if_lasting("dedicated", "x", "PreferNoSchedule").is_none());
        assert!(Taint::new_if_lasting("karpenter.sh/disruption-budget", "", "NoExecute").is_some());
    }
}
