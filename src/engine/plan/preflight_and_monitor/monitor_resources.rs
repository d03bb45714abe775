//! Resources of the monitor: only those that every app container has. The pod then keeps its quality-of-service class
//! (k8s.io/kubernetes pkg/apis/core/v1/helper/qos: Guaranteed needs CPU and memory on every container, and one value makes
//! a pod Burstable), and passes a quota, which requires a value of every container.

use crate::json::types_of_decoded_fields::Quantities;
use crate::json::write::{json_of_pairs, json_of_text};
use crate::pod::PodView;
use crate::profile::Monitor;

/// Files of the monitor: its log, which the kubelet counts.
const STORAGE: &str = "16Mi";

/// `resources` of the monitor.
pub(super) fn resources_json_of_monitor(pod: &PodView<'_>, monitor: &Monitor) -> Option<String> {
    // The containers of such a pod together must stay within the pod's own resources (KEP-2837), and the pod's decide its
    // class.
    if pod.spec.as_ref().is_some_and(|s| s.resources.is_some()) {
        return None;
    }
    let has = |list: Option<&Quantities<'_>>, name: &str| list.is_some_and(|l| l.get(name).is_some());
    let all = |check: &dyn Fn(&crate::pod::Container<'_>) -> bool| pod.containers().iter().all(check);
    let own = [
        ("cpu", monitor.resources.cpu.as_str()),
        ("memory", monitor.resources.memory.as_str()),
        ("ephemeral-storage", STORAGE),
    ];
    let limited = own.iter().filter(|(name, _)| all(&|c| has(c.limits(), name)));
    let limits: Vec<(&str, String)> = limited.map(|(name, value)| (*name, json_of_text(value))).collect();
    // A limit is the request where there is none (k8s.io/kubernetes pkg/apis/core/v1/defaults.go).
    let requested = own.iter().filter(|(name, _)| all(&|c| has(c.requests(), name) || has(c.limits(), name)));
    let requests: Vec<(&str, String)> = requested.map(|(name, value)| (*name, json_of_text(value))).collect();
    let lists = [("limits", limits), ("requests", requests)];
    let members: Vec<(&str, String)> = lists
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| (*name, json_of_pairs(list)))
        .collect();
    (!members.is_empty()).then(|| json_of_pairs(&members))
}
