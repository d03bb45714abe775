//! Lists of a pod that are longer than in any real pod. Rules compare these lists with one another and with what is known,
//! so a pod over a limit is not compared in detail.

use super::view::PodView;
use crate::json::values::Pairs;
use std::collections::HashSet;

/// Most different resource names of a pod (count).
pub const MAX_RESOURCE_NAMES: usize = 256;
/// Most entries of a node selector (count).
pub const MAX_NODE_SELECTOR: usize = 256;
/// Most labels of a pod (count).
pub const MAX_LABELS: usize = 1_024;

/// A list over its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverLimit {
    /// Different names of resources, in all containers together.
    ResourceNames,
    /// Entries of the node selector.
    NodeSelector,
    /// Labels.
    Labels,
}

/// The first list of a pod that is over its limit.
#[must_use]
pub fn over_limit(pod: &PodView<'_>) -> Option<OverLimit> {
    let labels = pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
    let selector = pod.spec.as_ref().and_then(|s| s.node_selector.as_ref());
    if selector.is_some_and(|s| s.0.len() > MAX_NODE_SELECTOR) {
        Some(OverLimit::NodeSelector)
    } else if labels.is_some_and(|l| l.0.len() > MAX_LABELS) {
        Some(OverLimit::Labels)
    } else {
        many_resources(pod).then_some(OverLimit::ResourceNames)
    }
}

fn many_resources(pod: &PodView<'_>) -> bool {
    let containers = || pod.containers().iter().chain(pod.init_containers());
    let lists = || containers().flat_map(|c| [c.limits(), c.requests()]).flatten();
    // Nearly every pod has fewer entries than that, repeated or not.
    if lists().map(|list| list.0.len()).sum::<usize>() <= MAX_RESOURCE_NAMES {
        return false;
    }
    let mut names: HashSet<&str> = HashSet::new();
    lists().flat_map(Pairs::iter).any(|(name, _)| names.insert(name) && names.len() > MAX_RESOURCE_NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(names: usize) -> String {
        let limits: Vec<String> = (0..names).map(|i| format!(r#""a.b/{i}":"1""#)).collect();
        let of = |part: &[String]| format!(r#"{{"resources":{{"limits":{{{}}}}}}}"#, part.join(","));
        let containers: Vec<String> = limits.chunks(64).map(of).collect();
        format!(r#"{{"spec":{{"containers":[{}]}}}}"#, containers.join(","))
    }

    fn pairs(n: usize) -> String {
        let pairs: Vec<String> = (0..n).map(|i| format!(r#""k{i}":"v""#)).collect();
        format!("{{{}}}", pairs.join(","))
    }

    #[test]
    fn one_more_than_the_limit() {
        let repeated = format!(
            r#"{{"spec":{{"containers":[{}]}}}}"#,
            vec![r#"{"resources":{"limits":{"a.b/c":"1"},"requests":{"a.b/c":"1"}}}"#; 400].join(",")
        );
        for (json, expected) in [
            ("{}".to_owned(), None),
            (repeated, None),
            (listing(MAX_RESOURCE_NAMES), None),
            (listing(MAX_RESOURCE_NAMES + 1), Some(OverLimit::ResourceNames)),
            (format!(r#"{{"spec":{{"nodeSelector":{}}}}}"#, pairs(MAX_NODE_SELECTOR)), None),
            (
                format!(r#"{{"spec":{{"nodeSelector":{}}}}}"#, pairs(MAX_NODE_SELECTOR + 1)),
                Some(OverLimit::NodeSelector),
            ),
            (format!(r#"{{"metadata":{{"labels":{}}}}}"#, pairs(MAX_LABELS)), None),
            (format!(r#"{{"metadata":{{"labels":{}}}}}"#, pairs(MAX_LABELS + 1)), Some(OverLimit::Labels)),
        ] {
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            assert_eq!(over_limit(&pod), expected);
        }
    }
}
