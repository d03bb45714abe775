//! Lists of a pod that are longer than in any real pod. Rules compare these lists with one another and with what is known,
//! so a pod over a limit is not compared in detail.

use super::pod_fields::{Container, PodClaim, PodView};
use crate::json::types_of_decoded_fields::Quantities;
use std::collections::HashSet;

/// Most different resource names of a pod (count).
pub const MAX_RESOURCE_NAMES: usize = 256;
/// Most entries of a node selector (count).
pub const MAX_NODE_SELECTOR: usize = 256;
/// Most labels of a pod (count).
pub const MAX_LABELS: usize = 1_024;

/// Most resource claims of a pod (count). A claim may have 32 requests with eight alternatives each (k8s.io/api
/// resource/v1), and rules look at each of them.
pub const MAX_CLAIMS: usize = 128;
/// Longest text of all commands and arguments of a pod together (bytes). An object in etcd has at most 1.5 MiB, and Linux
/// starts no program with an argument of more than 32 pages, which are 128 KiB on x86 (`MAX_ARG_STRLEN`).
pub const MAX_COMMANDS_LENGTH: usize = 1 << 20;
/// What each word of them counts for beside its text (bytes): 195,000 words of five bytes took 100 ms.
pub const BYTES_PER_WORD: usize = 16;

/// Most values that profiles set in all pod templates of an object while the templates are compared (count): the plans are
/// in memory together. 64 roles of 8 containers with 30 variables each have 16,000.
pub const MAX_COMPARED_VALUES: usize = 20_000;
/// Most values that profiles set in all different pod templates of an object while the templates are checked (count): each
/// takes about 0.7 microseconds. Four times as many as are compared. In an update, half for each version of the object.
pub const MAX_CHECKED_VALUES: usize = 80_000;
/// Bytes of commands, of arguments and of the networks annotation that take as long to check as such a value.
pub const TEXT_PER_VALUE: usize = 8;
/// What an entry of the node selector, a requirement or value of the node affinity, or a toleration takes to check, as a number
/// of such values.
pub const COST_OF_NODE_CONDITION: usize = 4;
/// The same for a variable.
pub const COST_OF_VARIABLE: usize = 2;
/// The same for an annotation of a pod.
pub const COST_OF_ANNOTATION: usize = 2;
/// The same for a network of a pod.
pub const COST_OF_NETWORK: usize = 3;
/// The same for a container.
pub const COST_OF_CONTAINER: usize = 16;
/// The same for each different name of a resource, and for each entry of limits and requests.
pub const COST_OF_RESOURCE_NAME: usize = 8;
/// See [`COST_OF_RESOURCE_NAME`].
pub const COST_OF_RESOURCE: usize = 2;
/// The same for a claim.
pub const COST_OF_CLAIM: usize = 32;
/// Devices of claims that take as long to check as such a value.
pub const DEVICES_PER_VALUE: usize = 2;
/// The same for each profile that is compared with what the pod asks of its nodes, each time that the profiles of a pod are
/// looked for.
pub const COST_OF_PROFILE: usize = 4;
/// Entries of profiles that are compared with a variable of a pod in the time that one such value takes.
pub const ENTRIES_PER_VALUE: usize = 8;

/// A list over its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverLimit {
    /// Different names of resources, in all containers together.
    ResourceNames,
    /// Entries of the node selector.
    NodeSelector,
    /// Labels.
    Labels,
    /// Resource claims.
    Claims,
    /// Commands and arguments of all containers.
    Commands,
}

/// The first list of a pod that is over its limit.
#[must_use]
pub fn first_list_over_limit(pod: &PodView<'_>) -> Option<OverLimit> {
    let labels = pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
    let selector = pod.spec.as_ref().and_then(|s| s.node_selector.as_ref());
    if selector.is_some_and(|s| s.0.len() > MAX_NODE_SELECTOR) {
        Some(OverLimit::NodeSelector)
    } else if labels.is_some_and(|l| l.0.len() > MAX_LABELS) {
        Some(OverLimit::Labels)
    } else if claims(pod).len() > MAX_CLAIMS {
        Some(OverLimit::Claims)
    } else if has_long_commands(pod) {
        Some(OverLimit::Commands)
    } else {
        has_too_many_resource_names(pod).then_some(OverLimit::ResourceNames)
    }
}

/// The claims of a pod.
fn claims<'p>(pod: &'p PodView<'_>) -> &'p [PodClaim<'p>] {
    pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default()
}

/// The claims of a pod that are compared with what is known, and those beyond the limit.
#[must_use]
pub fn claims_within_and_beyond_limit<'p>(pod: &'p PodView<'_>) -> (&'p [PodClaim<'p>], &'p [PodClaim<'p>]) {
    let all = claims(pod);
    all.split_at(all.len().min(MAX_CLAIMS))
}

/// Whether the commands of a pod are longer than any that are read.
#[must_use]
pub fn has_long_commands(pod: &PodView<'_>) -> bool {
    let containers = pod.containers().iter().chain(pod.init_containers());
    let words = containers.flat_map(Container::command_and_argument_words);
    words.map(|word| word.len() + BYTES_PER_WORD).sum::<usize>() > MAX_COMMANDS_LENGTH
}

fn has_too_many_resource_names(pod: &PodView<'_>) -> bool {
    let containers = || pod.containers().iter().chain(pod.init_containers());
    let lists = || containers().flat_map(|c| [c.limits(), c.requests()]).flatten();
    // Nearly every pod has fewer entries than that, repeated or not.
    if lists().map(|list| list.0.len()).sum::<usize>() <= MAX_RESOURCE_NAMES {
        return false;
    }
    let mut names: HashSet<&str> = HashSet::new();
    lists().flat_map(Quantities::iter).any(|(name, _)| names.insert(name) && names.len() > MAX_RESOURCE_NAMES)
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

    fn claiming(claims: usize) -> String {
        let claims: Vec<String> = (0..claims).map(|i| format!(r#"{{"name":"c{i}"}}"#)).collect();
        format!(r#"{{"spec":{{"resourceClaims":[{}]}}}}"#, claims.join(","))
    }

    /// Half of the text in a container, half in an init container.
    fn commanded(length: usize) -> String {
        let (one, other) = ("x".repeat(length / 2), "x".repeat(length - length / 2));
        format!(
            r#"{{"spec":{{"containers":[{{"command":["{one}"]}}],"initContainers":[{{"args":["{other}"]}}]}}}}"#
        )
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
            (claiming(MAX_CLAIMS), None),
            (claiming(MAX_CLAIMS + 1), Some(OverLimit::Claims)),
            (commanded(MAX_COMMANDS_LENGTH - 2 * BYTES_PER_WORD), None),
            (commanded(MAX_COMMANDS_LENGTH - 2 * BYTES_PER_WORD + 1), Some(OverLimit::Commands)),
            (format!(r#"{{"metadata":{{"labels":{}}}}}"#, pairs(MAX_LABELS)), None),
            (format!(r#"{{"metadata":{{"labels":{}}}}}"#, pairs(MAX_LABELS + 1)), Some(OverLimit::Labels)),
        ] {
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            assert_eq!(first_list_over_limit(&pod), expected);
        }
    }
}
