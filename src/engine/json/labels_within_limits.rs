//! The labels of a cluster's object, as far as they are kept. Kubernetes has no limit on their number: an object of 1.5 MiB has
//! room for 125,000, and a kubelet may add labels to its own Node (kubernetes/kubernetes plugin/pkg/admission/noderestriction).
//! Each label costs several hundred bytes of memory, so a few such objects would use all that the server has. Real nodes have 50
//! to 300 labels.

use super::room_for_entries::Room;
use super::types_of_decoded_fields::Text;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;

/// Most labels of a group that are kept.
const MAX_LABELS: usize = 512;
/// Most bytes of the labels of a group, keys and values together.
const MAX_BYTES: usize = 32 << 10;

/// Labels in the order of the object. A key may be repeated; its last value counts.
#[derive(Debug, Default)]
pub(crate) struct LabelsWithinLimits<'a> {
    pub(crate) kept: Vec<(Text<'a>, Text<'a>)>,
    /// Whether the object has labels that are not kept, so that a label that is missing here may be there.
    pub(crate) has_more: bool,
}

/// Each group has its own room: many labels of one source do not displace those of another.
struct RoomOfGroups {
    /// Labels of Kubernetes that no kubelet may set or change (in older versions: only set when it creates its Node).
    kubernetes: Room,
    /// Labels of the GPU operator and the network operator, which a kubelet may change.
    nvidia: Room,
    /// Labels of Node Feature Discovery: one for each feature of the CPU, the kernel and each PCI device.
    node_features: Room,
    /// All others, also those of Kubernetes that a kubelet may set as it likes.
    others: Room,
}

/// Labels of these domains and their subdomains a kubelet may set on its own Node (kubernetes/kubernetes
/// staging/src/k8s.io/api/core/v1/well_known_labels.go).
const DOMAINS_OF_KUBELETS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

impl RoomOfGroups {
    fn of_label(&mut self, key: &str) -> &mut Room {
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        let is_within =
            |of: &str| domain.strip_suffix(of).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        if domain == "feature.node.kubernetes.io" {
            &mut self.node_features
        } else if is_within("nvidia.com") {
            &mut self.nvidia
        } else if DOMAINS_OF_KUBELETS.into_iter().any(is_within) {
            &mut self.others
        } else if is_within("kubernetes.io") || is_within("k8s.io") {
            &mut self.kubernetes
        } else {
            &mut self.others
        }
    }
}

/// Reads labels, or `null`. The labels of `always` are kept whatever the others are.
///
/// # Errors
/// Those of the deserializer.
pub(crate) fn labels_within_limits<'de, D: Deserializer<'de>>(
    d: D,
    always: &'static [&'static str],
) -> Result<LabelsWithinLimits<'de>, D::Error> {
    struct LabelsVisitor(&'static [&'static str]);
    impl<'de> Visitor<'de> for LabelsVisitor {
        type Value = LabelsWithinLimits<'de>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a mapping")
        }
        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(LabelsWithinLimits::default())
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(LabelsWithinLimits::default())
        }
        fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
            d.deserialize_map(self)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut labels = LabelsWithinLimits::default();
            let whole = || Room::new(MAX_LABELS, MAX_BYTES);
            let mut room = RoomOfGroups {
                kubernetes: whole(),
                nvidia: whole(),
                node_features: whole(),
                others: whole(),
            };
            while let Some((key, value)) = map.next_entry::<Text<'de>, Option<Text<'de>>>()? {
                let value = value.unwrap_or_default();
                if self.0.contains(&&*key) || room.of_label(&key).take(key.len() + value.len()) {
                    labels.kept.push((key, value));
                } else {
                    labels.has_more = true;
                }
            }
            Ok(labels)
        }
    }
    d.deserialize_option(LabelsVisitor(always))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> LabelsWithinLimits<'_> {
        labels_within_limits(&mut serde_json::Deserializer::from_str(json), &["always"]).unwrap()
    }

    fn many(prefix: &str, number: usize, value: &str) -> String {
        (0..number).map(|i| format!(r#""{prefix}{i}":"{value}","#)).collect()
    }

    fn kept(labels: &LabelsWithinLimits<'_>, prefix: &str) -> usize {
        labels.kept.iter().filter(|(key, _)| key.starts_with(prefix)).count()
    }

    #[test]
    fn the_labels_of_a_real_node_are_all_kept() {
        let json = format!(
            r#"{{{}{}{}"kubernetes.io/hostname":"n","pool":null}}"#,
            many("feature.node.kubernetes.io/cpu-cpuid.FEATURE", 300, "true"),
            many("nvidia.com/gpu.label", 40, "NVIDIA-H100-80GB-HBM3"),
            many("cloud.example/label", 100, "some value"),
        );
        let labels = read(&json);
        assert_eq!((labels.kept.len(), labels.has_more), (442, false));
        assert!(labels.kept.iter().any(|(key, value)| &**key == "pool" && value.is_empty()));
        assert!(read("null").kept.is_empty() && read("{}").kept.is_empty());
    }

    #[test]
    fn each_group_has_its_own_limits() {
        let json = format!(
            r#"{{{}{}{}"kubernetes.io/hostname":"n","always":"x","z":"y"}}"#,
            many("a", 600, ""),
            many("feature.node.kubernetes.io/a", 600, ""),
            many("nvidia.com/a", 100, ""),
        );
        let labels = read(&json);
        assert!(labels.has_more);
        assert_eq!(kept(&labels, "feature.node.kubernetes.io/"), MAX_LABELS);
        assert_eq!((kept(&labels, "nvidia.com/"), kept(&labels, "kubernetes.io/hostname")), (100, 1));
        assert_eq!((kept(&labels, "always"), kept(&labels, "z")), (1, 0));
        assert_eq!(kept(&labels, "a"), MAX_LABELS + 1);
    }

    /// A kubelet may set the labels of these domains.
    #[test]
    fn labels_of_kubelets_displace_none_of_other_groups() {
        for prefix in [
            "kubelet.kubernetes.io/a",
            "x.kubelet.kubernetes.io/a",
            "node.kubernetes.io/a",
            "x.node.kubernetes.io/a",
        ] {
            let json = format!(
                r#"{{{}"nvidia.com/gpu.count":"8","network.nvidia.com/a":"","node-restriction.kubernetes.io/a":"","z":""}}"#,
                many(prefix, 600, "")
            );
            let labels = read(&json);
            assert_eq!((labels.kept.len(), kept(&labels, "z"), labels.has_more), (MAX_LABELS + 3, 0, true));
        }
    }

    #[test]
    fn long_labels_have_less_room() {
        let json = format!(r#"{{{}"z":"y"}}"#, many("a", 100, &"v".repeat(1 << 10)));
        let labels = read(&json);
        let bytes: usize = labels.kept.iter().map(|(key, value)| key.len() + value.len()).sum();
        assert!(labels.has_more && bytes <= MAX_BYTES && bytes > MAX_BYTES - 1_100, "{bytes}");
    }

    #[test]
    fn values_of_labels_that_are_not_kept_are_texts_as_well() {
        let json = format!(r#"{{{}"z":1}}"#, many("a", 600, ""));
        assert!(labels_within_limits(&mut serde_json::Deserializer::from_str(&json), &[]).is_err());
    }
}
