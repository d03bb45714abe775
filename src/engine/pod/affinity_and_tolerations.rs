//! Where a pod may land, by its own fields: required node affinity and tolerations. Preferences are not read: they
//! decide nothing.

use crate::json::types_of_decoded_fields::{List, Objects, Text, optional_struct};
use serde::Deserialize;

/// `spec.affinity`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Affinity<'a> {
    /// Node affinity.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub node_affinity: Option<NodeAffinity<'a>>,
    /// Rules that keep the pod away from other pods.
    #[serde(default, deserialize_with = "optional_struct")]
    pub pod_anti_affinity: Option<PodAntiAffinity>,
}

/// `spec.affinity.podAntiAffinity`.
#[derive(Debug, Default, Deserialize)]
pub struct PodAntiAffinity {
    /// Terms that must hold when the pod is scheduled.
    #[serde(default, rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Option<List<super::pod_fields::Presence>>,
}

/// `spec.affinity.nodeAffinity`.
#[derive(Debug, Default, Deserialize)]
pub struct NodeAffinity<'a> {
    /// Conditions on the node when the pod is scheduled.
    #[serde(
        borrow,
        default,
        rename = "requiredDuringSchedulingIgnoredDuringExecution",
        deserialize_with = "optional_struct"
    )]
    pub required: Option<RequiredNodeAffinity<'a>>,
}

/// `requiredDuringSchedulingIgnoredDuringExecution`: terms, one of which must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequiredNodeAffinity<'a> {
    /// The terms.
    #[serde(borrow, default)]
    pub node_selector_terms: Option<Objects<NodeSelectorTerm<'a>>>,
}

/// One term: every requirement must hold; a term without requirements matches no node.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSelectorTerm<'a> {
    /// Requirements on labels.
    #[serde(borrow, default)]
    pub match_expressions: Option<Objects<NodeSelectorRequirement<'a>>>,
    /// Requirements on fields; `metadata.name` is the only possible one.
    #[serde(borrow, default)]
    pub match_fields: Option<Objects<NodeSelectorRequirement<'a>>>,
}

/// One requirement on a label or field.
#[derive(Debug, Default, Deserialize)]
pub struct NodeSelectorRequirement<'a> {
    /// Label or field.
    #[serde(borrow, default)]
    pub key: Option<Text<'a>>,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`.
    #[serde(borrow, default)]
    pub operator: Option<Text<'a>>,
    /// Values.
    #[serde(borrow, default)]
    pub values: Option<List<Text<'a>>>,
}

/// One of `spec.tolerations`.
#[derive(Debug, Default, Deserialize)]
pub struct Toleration<'a> {
    /// Taint it tolerates; without a key and with operator `Exists`, every taint.
    #[serde(borrow, default)]
    pub key: Option<Text<'a>>,
    /// `Equal`, the default, or `Exists`.
    #[serde(borrow, default)]
    pub operator: Option<Text<'a>>,
    /// Value of the taint, for `Equal`.
    #[serde(borrow, default)]
    pub value: Option<Text<'a>>,
    /// Effect; without one, every effect.
    #[serde(borrow, default)]
    pub effect: Option<Text<'a>>,
}

impl<'a> Affinity<'a> {
    /// The terms of the required node affinity; `None` without such a list.
    #[must_use]
    pub fn required_node_terms(&self) -> Option<&[NodeSelectorTerm<'a>]> {
        self.node_affinity.as_ref()?.required.as_ref()?.node_selector_terms.as_deref()
    }
}

impl<'a> NodeSelectorTerm<'a> {
    /// Requirements on labels, in order.
    #[must_use]
    pub fn expressions(&self) -> &[NodeSelectorRequirement<'a>] {
        self.match_expressions.as_deref().unwrap_or_default()
    }
    /// Requirements on fields, in order.
    #[must_use]
    pub fn fields(&self) -> &[NodeSelectorRequirement<'a>] {
        self.match_fields.as_deref().unwrap_or_default()
    }
    /// Whether it has no requirement at all, and so matches no node
    /// (k8s.io/component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go, `isEmptyNodeSelectorTerm`).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.expressions().is_empty() && self.fields().is_empty()
    }
}

impl NodeSelectorRequirement<'_> {
    /// Values, in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.as_deref().unwrap_or_default().iter().map(|v| &**v)
    }
}

#[cfg(test)]
mod tests;
