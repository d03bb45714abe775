//! Annotations, labels and the node selector by key. Some are looked up for each container, variable or network, and a pod
//! has room for a hundred thousand. Of a key that is given twice, the last counts.

use super::place_index::{FEW, PlaceIndex};
use super::pod_fields::PodView;
use crate::json::types_of_decoded_fields::{Pairs, Text};

impl PodView<'_> {
    /// An annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        let metadata = self.metadata.as_ref()?;
        last(metadata.annotations.as_ref()?, &metadata.by_key, key)
    }

    /// A label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        let metadata = self.metadata.as_ref()?;
        last(metadata.labels.as_ref()?, &metadata.by_label, key)
    }

    /// The value that the pod's node selector requires of a label.
    #[must_use]
    pub fn node_selector_value(&self, label: &str) -> Option<&str> {
        let spec = self.spec.as_ref()?;
        last(spec.node_selector.as_ref()?, &spec.by_node_label, label)
    }
}

fn last<'p>(pairs: &'p Pairs<'_, Text<'_>>, index: &PlaceIndex, key: &str) -> Option<&'p str> {
    if pairs.0.len() < FEW {
        return Some(&**pairs.get(key)?);
    }
    let key_of = |place: usize| pairs.0.get(place).map(|(key, _)| &**key);
    let place = index.places(pairs.0.len(), key_of, key).next_back()?;
    pairs.0.get(place).map(|(_, value)| &**value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_key_counts_among_few_and_many() {
        for others in [0, 40] {
            let others: String = (0..others).map(|i| format!(r#""k{i}":"{i}","#)).collect();
            let pairs = format!(r#"{{{others}"b":"1","a":"2","b":"3"}}"#);
            let json = format!(
                r#"{{"metadata":{{"annotations":{pairs},"labels":{pairs}}},"spec":{{"nodeSelector":{pairs}}}}}"#
            );
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            for of in [PodView::annotation, PodView::label, PodView::node_selector_value] {
                let found = ["a", "b", "c", "k"].map(|key| of(&pod, key).unwrap_or("none"));
                assert_eq!(found, ["2", "3", "none", "none"], "{json}");
            }
        }
    }
}
