//! Resources of the monitor: only those that every app container has. With CPU and memory, the pod keeps its
//! quality-of-service class (k8s.io/kubernetes pkg/apis/core/v1/helper/qos: Guaranteed needs both on every container, and one
//! value makes a pod Burstable), and passes a quota, which requires both of every container. Ephemeral storage is stated
//! because a LimitRange would add its default, which is meant for training.
//!
//! `spec.resources` decides the class of a pod that has it, and the requests of the containers together must stay within it
//! (KEP-2837). The monitor states a value for each of these resources, since a LimitRange would else add its default, and
//! the API server would refuse the sum: its own where the pod has room, or zero.

use crate::json::quantity::Quantity;
use crate::json::types_of_decoded_fields::Quantities;
use crate::json::write::{json_of_pairs, json_of_text};
use crate::pod::pod_fields::Container;
use crate::pod::{PodView, pod_fields::Resources};
use crate::profile::Monitor;

/// `resources` of the monitor.
pub(super) fn resources_json_of_monitor(pod: &PodView<'_>, monitor: &Monitor) -> Option<String> {
    let whole = pod.spec.as_ref().and_then(|s| s.resources.as_ref());
    let own = [
        ("cpu", monitor.resources.cpu.as_str()),
        ("memory", monitor.resources.memory.as_str()),
        ("ephemeral-storage", monitor.resources.ephemeral_storage.as_str()),
    ];
    let (mut limits, mut requests) = (Vec::new(), Vec::new());
    for (name, own) in own {
        let within = whole.and_then(|whole| values_within_resources_of_pod(pod, whole, name, own));
        let (limit, request) = within.unwrap_or_else(|| values_that_all_containers_have(pod, name, own));
        limits.extend(limit.map(|value| (name, json_of_text(value))));
        requests.extend(request.map(|value| (name, json_of_text(value))));
    }
    let lists = [("limits", limits), ("requests", requests)];
    let members: Vec<(&str, String)> = lists
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| (*name, json_of_pairs(list)))
        .collect();
    (!members.is_empty()).then(|| json_of_pairs(&members))
}

/// Limit and request.
type Values<'v> = (Option<&'v str>, Option<&'v str>);

fn values_that_all_containers_have<'v>(pod: &PodView<'_>, name: &str, own: &'v str) -> Values<'v> {
    let has = |list: Option<&Quantities<'_>>| list.is_some_and(|l| l.get(name).is_some());
    let limited = pod.containers().iter().all(|c| has(c.limits()));
    // A limit is the request where there is none (k8s.io/kubernetes pkg/apis/core/v1/defaults.go).
    let requested = pod.containers().iter().all(|c| has(c.requests()) || has(c.limits()));
    (limited.then_some(own), requested.then_some(own))
}

/// The values for a resource that `spec.resources` has; `None` for another. A limit may not be above that of the pod.
fn values_within_resources_of_pod<'v>(
    pod: &'v PodView<'_>,
    whole: &'v Resources<'_>,
    name: &str,
    own: &'v str,
) -> Option<Values<'v>> {
    let value = |list: Option<&'v Quantities<'_>>| {
        let text = list?.get(name)?.0.as_ref();
        Some((Quantity::parse(text).ok()?, text))
    };
    let limit_of_pod = value(whole.limits.as_ref());
    let (room, _) = value(whole.requests.as_ref()).or(limit_of_pod)?;
    let amount = Quantity::parse(own).ok()?;
    let sidecars = pod.init_containers().iter().filter(|c| c.is_sidecar());
    let request = |c: &Container<'_>| {
        let text = c.requests().and_then(|l| l.get(name)).or_else(|| c.limits().and_then(|l| l.get(name)))?;
        Quantity::parse(&text.0).ok()
    };
    let sum =
        pod.containers().iter().chain(sidecars).filter_map(request).fold(amount, Quantity::saturating_add);
    let (limit_of_containers, _) = values_that_all_containers_have(pod, name, own);
    let limit =
        limit_of_pod.map_or(limit_of_containers, |(most, text)| Some(if most < amount { text } else { own }));
    Some((limit, Some(if sum <= room { own } else { "0" })))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The monitor's resources in a pod with `spec.resources` and containers as given.
    fn written(whole: &str, containers: &[&str]) -> String {
        let all: Vec<String> = containers.iter().map(|c| format!(r#"{{"resources":{c}}}"#)).collect();
        let json = format!(r#"{{"spec":{{"resources":{whole},"containers":[{}]}}}}"#, all.join(","));
        let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
        resources_json_of_monitor(&pod, &monitor()).unwrap_or_default()
    }

    fn monitor() -> Monitor {
        serde_json::from_str(r#"{"image":"i"}"#).unwrap()
    }

    #[test]
    fn the_sum_stays_within_the_resources_of_the_pod() {
        let gpu = r#"{"limits":{"nvidia.com/gpu":"8"}}"#;
        let all = r#"{"requests":{"cpu":"10","memory":"100Gi"}}"#;
        let own = r#"{"requests":{"cpu":"20m","memory":"64Mi"}}"#;
        assert_eq!(written(all, &[gpu]), own);
        assert_eq!(
            written(all, &[r#"{"requests":{"cpu":"9","memory":"9"}}"#, r#"{"limits":{"cpu":"980m"}}"#]),
            own
        );
        assert_eq!(written(all, &[all]), r#"{"requests":{"cpu":"0","memory":"0"}}"#);
        assert_eq!(
            written(r#"{"limits":{"memory":"32Mi"}}"#, &[gpu]),
            r#"{"limits":{"memory":"32Mi"},"requests":{"memory":"0"}}"#
        );
        let both = r#"{"limits":{"cpu":"10"},"requests":{"cpu":"4"}}"#;
        assert_eq!(
            written(both, &[r#"{"requests":{"cpu":"3"}}"#]),
            r#"{"limits":{"cpu":"20m"},"requests":{"cpu":"20m"}}"#
        );
        // A sidecar counts with the app containers, and an init container that ends before them does not.
        let four = r#"{"requests":{"cpu":"4"}}"#;
        let init = |policy: &str| {
            let json = format!(
                r#"{{"spec":{{"resources":{four},"initContainers":[{{"resources":{{"requests":{{"cpu":"1"}}}}{policy}}}],
                    "containers":[{{"resources":{{"requests":{{"cpu":"3"}},"limits":{{"cpu":"3"}}}}}}]}}}}"#
            );
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            resources_json_of_monitor(&pod, &monitor()).unwrap()
        };
        assert_eq!(init(""), r#"{"limits":{"cpu":"20m"},"requests":{"cpu":"20m"}}"#);
        assert_eq!(
            init(r#","restartPolicy":"Always""#),
            r#"{"limits":{"cpu":"20m"},"requests":{"cpu":"0"}}"#
        );
        // What the pod as a whole does not limit follows the containers.
        let memory = r#"{"requests":{"memory":"1Gi","ephemeral-storage":"2Gi"}}"#;
        assert_eq!(
            written(r#"{"limits":{"cpu":"10"}}"#, &[memory]),
            r#"{"limits":{"cpu":"20m"},"requests":{"cpu":"20m","memory":"64Mi","ephemeral-storage":"16Mi"}}"#
        );
        assert_eq!(written("null", &[gpu]), "");
        assert_eq!(written("null", &[memory, gpu]), "");
        assert_eq!(written("{}", &[memory]), r#"{"requests":{"memory":"64Mi","ephemeral-storage":"16Mi"}}"#);
    }
}
