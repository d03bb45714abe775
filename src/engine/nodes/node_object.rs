//! The fields that are read of a Node object. No others are kept: a GPU node is about 34 kB of JSON. Labels, taints and extended
//! resources have limits: Kubernetes has none, and a kubelet lists the resources of its own Node.

use super::taints_and_tolerations::Taint;
use super::{HOSTNAME_LABEL, INSTANCE_TYPE_LABEL};
use crate::json::labels_within_limits::{LabelsWithinLimits, labels_within_limits};
use crate::json::room_for_entries::Room;
use crate::json::types_of_decoded_fields::{Objects, QuantityText, Text, optional_struct};
use crate::pod::Quantity;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;

/// The labels that are kept of every Node that has them: by these most pods and profiles choose nodes.
pub(super) const LABELS_ALWAYS_KEPT: &[&str] = &[
    HOSTNAME_LABEL,
    INSTANCE_TYPE_LABEL,
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "nvidia.com/gpu.product",
];

/// Most extended resources of a Node that are kept: each costs several hundred bytes in the index of nodes. Real nodes list
/// fewer than 50.
const MAX_EXTENDED_RESOURCES: usize = 512;
/// Most taints of a Node that are kept. Real nodes have fewer than 10.
const MAX_TAINTS: usize = 512;
/// Most bytes of the names of the resources, and of the texts of the taints.
const MAX_BYTES: usize = 32 << 10;

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

fn read_labels<'de, D: Deserializer<'de>>(d: D) -> Result<LabelsWithinLimits<'de>, D::Error> {
    labels_within_limits(d, LABELS_ALWAYS_KEPT)
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
    allocatable: Allocatable<'a>,
}

/// The resources that a Node lists.
#[derive(Debug, Default)]
enum Allocatable<'a> {
    /// None, as before the first status of its kubelet.
    #[default]
    None,
    /// It has more extended resources than the limit. The server keeps none of them, because it cannot know which ones pods ask for.
    TooMany,
    /// Extended resources with their units, in the order of the object.
    Extended(Vec<(Text<'a>, u64)>),
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
        let mut room = Room::new(MAX_TAINTS, MAX_BYTES);
        let lasting = listed.iter().filter_map(|t| {
            Taint::new_if_lasting(
                t.key.as_deref().unwrap_or_default(),
                t.value.as_deref().unwrap_or_default(),
                t.effect.as_deref().unwrap_or_default(),
            )
        });
        let mut taints: Vec<Taint> =
            lasting.take_while(|taint| room.take(taint.key.len() + taint.value.len())).collect();
        taints.sort();
        taints.dedup();
        taints
    }

    /// Allocatable extended resources with their units, sorted by name; of a repeated name the last. `None` if it lists no
    /// resources at all, or more than are kept.
    pub(super) fn known_resources(&self) -> Option<Vec<(&str, u64)>> {
        let Allocatable::Extended(listed) = &self.status.as_ref()?.allocatable else { return None };
        Some(sorted(listed.iter().map(|(name, units)| (&**name, *units)).collect()))
    }

    /// Whether it lists more extended resources than are kept.
    pub(super) fn has_too_many_resources(&self) -> bool {
        self.status.as_ref().is_some_and(|status| matches!(status.allocatable, Allocatable::TooMany))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Allocatable<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_option(AllocatableVisitor)
    }
}

struct AllocatableVisitor;

impl<'de> Visitor<'de> for AllocatableVisitor {
    type Value = Allocatable<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }
    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Allocatable::None)
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Allocatable::None)
    }
    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        d.deserialize_map(self)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut room = Room::new(MAX_EXTENDED_RESOURCES, MAX_BYTES);
        let mut extended = Vec::new();
        let (mut lists_any, mut has_room) = (false, true);
        // All are read, as their types are checked, but no more are kept than there is room for.
        while let Some((name, units)) = map.next_entry::<Text<'de>, Option<QuantityText<'de>>>()? {
            lists_any = true;
            if !is_extended(&name) {
                continue;
            }
            has_room = has_room && room.take(name.len());
            if has_room {
                extended.push((name, units.as_ref().map_or(0, units_of)));
            }
        }
        Ok(match (lists_any, has_room) {
            (false, _) => Allocatable::None,
            (true, false) => Allocatable::TooMany,
            (true, true) => Allocatable::Extended(extended),
        })
    }
}

/// Native resources have no domain, or Kubernetes' own.
fn is_extended(name: &str) -> bool {
    name.split_once('/').is_some_and(|(domain, _)| !domain.ends_with("kubernetes.io"))
}

fn units_of(text: &QuantityText<'_>) -> u64 {
    Quantity::parse(&text.0).ok().and_then(|q| u64::try_from(q.units_rounded_up()).ok()).unwrap_or(0)
}

fn sorted<V>(mut pairs: Vec<(&str, V)>) -> Vec<(&str, V)> {
    // A stable sort, so that of a repeated key the last stays.
    pairs.reverse();
    pairs.sort_by(|a, b| a.0.cmp(b.0));
    pairs.dedup_by(|later, kept| later.0 == kept.0);
    pairs
}
