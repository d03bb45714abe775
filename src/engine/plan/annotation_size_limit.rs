//! Room for annotations: all annotations of an object share 256 KiB, keys and values.

use super::Edit;
use crate::pod::PodView;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The API server's limit (bytes; k8s.io/apimachinery pkg/api/validation, `TotalAnnotationSizeLimitB`).
pub(super) const MAX_ANNOTATION_BYTES: usize = 256 << 10;

/// Whether the annotations of a pod stay within the limit once edits are applied. A user's annotations that already
/// exceed it are refused whatever is planned.
pub(super) fn do_annotations_fit<'e>(
    pod: &PodView<'_>,
    edits: impl Iterator<Item = &'e Edit> + Clone,
) -> bool {
    let set = edits.filter_map(Edit::annotation_that_it_sets).map(|(key, value, _)| (key, value));
    let own = pod.metadata.as_ref().and_then(|m| m.annotations.as_ref());
    let own = || own.into_iter().flat_map(|a| a.iter());
    // Nearly every pod: there is room for all, even where a change replaces an annotation of the pod.
    let length = |sum: usize, key: &str, value: &str| sum + key.len() + value.len();
    let all = own().fold(0, |sum, (key, value)| length(sum, key, value));
    if set.clone().fold(all, |sum, (key, value)| length(sum, &key, value)) <= MAX_ANNOTATION_BYTES {
        return true;
    }
    let set: BTreeMap<Cow<'_, str>, &str> = set.collect();
    if set.is_empty() {
        return true;
    }
    let kept = own().filter(|(key, _)| !set.contains_key(*key));
    let kept: usize = kept.map(|(key, value)| key.len() + value.len()).sum();
    kept + set.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() <= MAX_ANNOTATION_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multus::NETWORKS_ANNOTATION;
    use serde_json::json;

    #[test]
    fn up_to_the_last_byte() {
        let fits = |own: usize, networks: usize, present: bool| {
            let mut pod = json!({"metadata": {"annotations": {"note": "x".repeat(own - 4)}}});
            if present {
                pod["metadata"]["annotations"][NETWORKS_ANNOTATION] = "a".into();
            }
            let value = "n".repeat(networks - NETWORKS_ANNOTATION.len());
            let edit = Edit::Networks { value, present };
            let text = pod.to_string();
            do_annotations_fit(&serde_json::from_str(&text).unwrap(), std::iter::once(&edit))
        };
        for present in [false, true] {
            assert!(
                fits(MAX_ANNOTATION_BYTES - 100, 100, present)
                    && !fits(MAX_ANNOTATION_BYTES - 99, 100, present),
                "{present}"
            );
        }
    }
}
