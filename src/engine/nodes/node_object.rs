//! The fields that are read of a Node object. No others are kept: a GPU node is about 34 kB of JSON.

use super::taints_and_tolerations::Taint;
use super::{HOSTNAME_LABEL, INSTANCE_TYPE_LABEL};
use crate::json::labels_within_limits::{LabelsWithinLimits, labels_within_limits};
use crate::json::types_of_decoded_fields::{Objects, Pairs, QuantityText, Text, optional_struct};
use crate::pod::Quantity;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The part of a Node that resolution and rules need.
#[derive(Debug, Default, Deserialize)]
pub struct NodeObject<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    metadata: Option<Metadata<'a>>,
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    spec: Option<Spec<'a>>,
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    status: Option<Status<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    /// In a file it may have any type: a fact does not depend on it.
    #[serde(borrow, default)]
    resource_version: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "read_labels")]
    labels: LabelsWithinLimits<'a>,
}

/// By these two most pods and profiles choose nodes.
fn read_labels<'de, D: Deserializer<'de>>(d: D) -> Result<LabelsWithinLimits<'de>, D::Error> {
    labels_within_limits(d, &[HOSTNAME_LABEL, INSTANCE_TYPE_LABEL])
}

#[derive(Debug, Default, Deserialize)]
struct Spec<'a> {
    #[serde(borrow, default)]
    taints: Option<Objects<TaintObject<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
struct TaintObject<'a> {
    #[serde(borrow, default)]
    key: Option<Text<'a>>,
    #[serde(borrow, default)]
    value: Option<Text<'a>>,
    #[serde(borrow, default)]
    effect: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct Status<'a> {
    #[serde(borrow, default)]
    allocatable: Option<Pairs<'a, QuantityText<'a>>>,
}

impl NodeObject<'_> {
    /// Name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.metadata.as_ref()?.name.as_deref().filter(|n| !n.is_empty())
    }

    /// Version of the object.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        serde_json::from_str(self.metadata.as_ref()?.resource_version?.get()).ok()
    }

    /// Labels by key, each once; the last of a repeated key counts.
    pub(super) fn labels(&self) -> Vec<(&str, &str)> {
        let kept = self.metadata.iter().flat_map(|m| &m.labels.kept);
        sorted(kept.map(|(key, value)| (&**key, &**value)).collect())
    }

    /// Whether it has more labels than are kept.
    pub(super) fn has_more_labels(&self) -> bool {
        self.metadata.as_ref().is_some_and(|m| m.labels.has_more)
    }

    /// Taints that describe the node permanently, sorted.
    pub(super) fn lasting_taints(&self) -> Vec<Taint> {
        let listed = self.spec.as_ref().and_then(|s| s.taints.as_deref()).unwrap_or_default();
        let mut taints: Vec<Taint> = listed
            .iter()
            .filter_map(|t| {
                Taint::new_if_lasting(
                    t.key.as_deref().unwrap_or_default(),
                    t.value.as_deref().unwrap_or_default(),
                    t.effect.as_deref().unwrap_or_default(),
                )
            })
            .collect();
        taints.sort();
        taints.dedup();
        taints
    }

    /// Whether it lists allocatable resources at all. A kubelet does from its first status on.
    pub(super) fn lists_allocatable_resources(&self) -> bool {
        let pairs = self.status.as_ref().and_then(|s| s.allocatable.as_ref());
        pairs.is_some_and(|pairs| pairs.iter().next().is_some())
    }

    /// Allocatable extended resources with their units, sorted by name; of a repeated name the last. Native resources
    /// have no domain, or Kubernetes' own.
    pub(super) fn extended_resources(&self) -> Vec<(&str, u64)> {
        let pairs = self.status.as_ref().and_then(|s| s.allocatable.as_ref());
        let extended = |name: &str| name.split_once('/').is_some_and(|(d, _)| !d.ends_with("kubernetes.io"));
        let units = |text: &QuantityText<'_>| {
            Quantity::parse(&text.0).ok().and_then(|q| u64::try_from(q.units_rounded_up()).ok()).unwrap_or(0)
        };
        let pairs = pairs.into_iter().flat_map(Pairs::iter).filter(|(name, _)| extended(name));
        sorted(pairs.map(|(name, text)| (name, units(text))).collect())
    }
}

fn sorted<V>(mut pairs: Vec<(&str, V)>) -> Vec<(&str, V)> {
    // A stable sort, so that of a repeated key the last stays.
    pairs.reverse();
    pairs.sort_by(|a, b| a.0.cmp(b.0));
    pairs.dedup_by(|later, kept| later.0 == kept.0);
    pairs
}
