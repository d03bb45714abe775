//! Taints and tolerations as the scheduler reads them.

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
const PASSING: &[&str] = &[
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
    pub fn lasting(key: &str, value: &str, effect: &str) -> Option<Self> {
        let passing = PASSING.iter().any(|p| if p.ends_with('/') { key.starts_with(p) } else { key == *p });
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

impl Toleration<'_> {
    /// Whether a taint is tolerated (kubernetes/api core/v1/toleration.go, `ToleratesTaint`).
    #[must_use]
    pub fn tolerates(self, taint: &Taint) -> bool {
        if !self.effect.is_empty() && *self.effect != *taint.effect {
            return false;
        }
        if !self.key.is_empty() && *self.key != *taint.key {
            return false;
        }
        match self.operator {
            "" | "Equal" => *self.value == *taint.value,
            "Exists" => true,
            // Numeric comparison: feature gate TaintTolerationComparisonOperators. If the gate is off, the API server
            // refuses the pod.
            "Lt" => number(&taint.value).zip(number(self.value)).is_some_and(|(t, v)| t < v),
            "Gt" => number(&taint.value).zip(number(self.value)).is_some_and(|(t, v)| t > v),
            _ => false,
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
        Taint::lasting(GPU.0, GPU.1, GPU.2).unwrap()
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
            assert!(yes.tolerates(&taint()), "{yes:?}");
        }
        for no in [
            toleration("nvidia.com/gpu", "Equal", "", ""),
            toleration("nvidia.com/gpu", "Exists", "", "NoExecute"),
            toleration("amd.com/gpu", "Exists", "", ""),
            toleration("nvidia.com/gpu", "exists", "", ""),
        ] {
            assert!(!no.tolerates(&taint()), "{no:?}");
        }
    }

    #[test]
    fn passing_taints_do_not_count() {
        for key in
            ["node.kubernetes.io/unschedulable", "karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler"]
        {
            assert!(Taint::lasting(key, "", "NoSchedule").is_none(), "{key}");
        }
        assert!(Taint::lasting("dedicated", "x", "PreferNoSchedule").is_none());
        assert!(Taint::lasting("karpenter.sh/disruption-budget", "", "NoExecute").is_some());
    }
}
