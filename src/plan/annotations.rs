//! Room for annotations: those of one object may have 256 KiB together, keys and values.

use super::{Edit, Plan};
use crate::multus::NETWORKS_ANNOTATION;
use crate::pod::PodView;

/// What the API server takes (bytes; k8s.io/apimachinery pkg/api/validation, `TotalAnnotationSizeLimitB`).
const MOST: usize = 256 << 10;

impl Edit {
    /// Key and whole value of the annotation that it sets.
    fn annotation(&self) -> Option<(&str, &str)> {
        match self {
            Self::Networks { value, .. } => Some((NETWORKS_ANNOTATION, value)),
            _ => None,
        }
    }
}

/// Whether the annotations of a pod are still within the bound once the plan is carried out. Those that are beyond it
/// already are the user's, and refused whatever is planned.
pub(super) fn fit(pod: &PodView<'_>, plan: &Plan) -> bool {
    let set = || plan.changes.iter().filter_map(|c| c.edit.annotation());
    if set().next().is_none() {
        return true;
    }
    let own = pod.metadata.as_ref().and_then(|m| m.annotations.as_ref());
    let kept = own.into_iter().flat_map(|a| a.iter()).filter(|(key, _)| set().all(|(k, _)| k != *key));
    let kept: usize = kept.map(|(key, value)| key.len() + value.len()).sum();
    kept + set().map(|(key, value)| key.len() + value.len()).sum::<usize>() <= MOST
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Change;
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
            let plan = Plan { changes: vec![Change { edit, reason: "rails".to_owned() }], ..Plan::default() };
            let text = pod.to_string();
            fit(&serde_json::from_str(&text).unwrap(), &plan)
        };
        for present in [false, true] {
            assert!(fits(MOST - 100, 100, present) && !fits(MOST - 99, 100, present), "{present}");
        }
    }
}
