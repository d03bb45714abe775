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

/// The tolerations of a pod by effect and key, each once: a pod may have thousands, and nodes thousands of taints.
#[derive(Debug, Default, Hash)]
pub struct Tolerations<'a> {
    /// Those without an effect, which are for every effect.
    every: ToleratedByKey<'a>,
    no_schedule: ToleratedByKey<'a>,
    no_execute: ToleratedByKey<'a>,
}

/// Tolerations of one effect. Those without a key are for every key, and are at [`EVERY_KEY`].
type ToleratedByKey<'a> = BTreeMap<&'a str, ToleratedValues<'a>>;

/// Tolerations with one key and one effect.
#[derive(Debug, Default, Hash)]
struct ToleratedValues<'a> {
    /// Whether any value is tolerated.
    any: bool,
    /// Whether the empty value is. It is compared with no other: glibc's memcmp takes microseconds for an empty text of Rust,
    /// whose address is that of no memory.
    empty: bool,
    equal: BTreeSet<&'a str>,
    /// Hardly any toleration compares numbers.
    numbers: Option<Box<ToleratedNumbers>>,
}

#[derive(Debug, Default, Hash)]
struct ToleratedNumbers {
    /// The least number that a taint's value must be greater than.
    above: Option<i64>,
    /// The greatest number that a taint's value must be less than.
    below: Option<i64>,
}

impl<'a> FromIterator<Toleration<'a>> for Tolerations<'a> {
    fn from_iter<I: IntoIterator<Item = Toleration<'a>>>(tolerations: I) -> Self {
        let mut all = Self::default();
        for toleration in tolerations {
            let of_effect = match toleration.effect {
                "" => &mut all.every,
                "NoSchedule" => &mut all.no_schedule,
                "NoExecute" => &mut all.no_execute,
                // No taint with another effect keeps pods away.
                _ => continue,
            };
            let key = if toleration.key.is_empty() { EVERY_KEY } else { toleration.key };
            let values = of_effect.entry(key).or_default();
            match (toleration.operator, number(toleration.value)) {
                ("" | "Equal", _) if toleration.value.is_empty() => values.empty = true,
                ("" | "Equal", _) => {
                    values.equal.insert(toleration.value);
                }
                ("Exists", _) => values.any = true,
                // Numeric comparison: feature gate TaintTolerationComparisonOperators. If the gate is off, the API server
                // refuses the pod.
                ("Gt", Some(n)) => {
                    let above = &mut values.numbers.get_or_insert_default().above;
                    *above = Some(above.map_or(n, |bound| n.min(bound)));
                }
                ("Lt", Some(n)) => {
                    let below = &mut values.numbers.get_or_insert_default().below;
                    *below = Some(below.map_or(n, |bound| n.max(bound)));
                }
                _ => {}
            }
        }
        all
    }
}

/// In place of the empty key, see [`ToleratedValues::empty`]. No key of Kubernetes has a line feed.
const EVERY_KEY: &str = "\n";

impl ToleratedValues<'_> {
    fn contains(&self, value: &str) -> bool {
        let numbers = || self.numbers.as_deref().zip(number(value));
        let within = || {
            numbers().is_some_and(|(bounds, n)| {
                bounds.above.is_some_and(|bound| n > bound) || bounds.below.is_some_and(|bound| n < bound)
            })
        };
        let equal = || if value.is_empty() { self.empty } else { self.equal.contains(value) };
        self.any || equal() || within()
    }
}

impl Tolerations<'_> {
    /// Whether one of them tolerates a taint with this key (kubernetes/api core/v1/toleration.go, `ToleratesTaint`): an empty
    /// key is for every key, an empty effect for every effect. Nodes may have thousands of taints with one key.
    pub fn tolerate_taints_of_key(&self, key: &str) -> impl Fn(&Taint) -> bool + use<'_> {
        let [every, no_schedule, no_execute] = [&self.every, &self.no_schedule, &self.no_execute]
            .map(|of_effect| [EVERY_KEY, key].map(|key| of_effect.get(key)));
        move |taint| {
            let own = match &*taint.effect {
                "NoSchedule" => no_schedule,
                "NoExecute" => no_execute,
                _ => [None; 2],
            };
            every.into_iter().chain(own).flatten().any(|values| values.contains(&taint.value))
        }
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

    fn do_tolerate(tolerations: &Tolerations<'_>, taint: &Taint) -> bool {
        tolerations.tolerate_taints_of_key(&taint.key)(taint)
    }

    #[test]
    fn tolerations_match_as_in_kubernetes() {
        for yes in [
            toleration("nvidia.com/gpu", "Exists", "", ""),
            toleration("", "Exists", "", ""),
            toleration("nvidia.com/gpu", "", "present", "NoSchedule"),
            toleration("nvidia.com/gpu", "Equal", "present", ""),
        ] {
            assert!(do_tolerate(&Tolerations::from_iter([yes]), &taint()), "{yes:?}");
        }
        for no in [
            toleration("nvidia.com/gpu", "Equal", "", ""),
            toleration("nvidia.com/gpu", "Exists", "", "NoExecute"),
            toleration("amd.com/gpu", "Exists", "", ""),
            toleration("nvidia.com/gpu", "exists", "", ""),
        ] {
            assert!(!do_tolerate(&Tolerations::from_iter([no]), &taint()), "{no:?}");
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
            assert_eq!(do_tolerate(&Tolerations::from_iter(all), &taint), yes, "{operator} {values:?}");
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
