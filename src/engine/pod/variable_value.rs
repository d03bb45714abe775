//! The value that a container's variable has at the start, as far as the pod itself shows it.

use super::pod_fields::{Container, EnvVar, PodView};
use super::variable_sources::{ResourceFieldRef, ValueFrom};
use crate::json::quantity::Quantity;
use std::borrow::Cow;

/// The entries of a variable that can decide its value, with their places, the last one first: the last entry, and the
/// one before each whose source may be missing.
pub fn entries_that_may_decide<'c, 'a>(
    container: &'c Container<'a>,
    name: &str,
) -> impl Iterator<Item = (usize, &'c EnvVar<'a>)> {
    let mut counts = true;
    container.entries_of_variable_last_first(name).take_while(move |(_, entry)| {
        let now = counts;
        counts = entry.value_from.as_deref().is_some_and(ValueFrom::may_be_missing);
        now
    })
}

/// A pod whose fields and resources variables take.
#[derive(Clone, Copy)]
pub struct PodBehindVariables<'a, 'p, 'c> {
    /// The pod.
    pub pod: &'a PodView<'p>,
    /// Its namespace.
    pub namespace: &'a str,
    /// The text that an annotation is going to have, where that differs from the pod as it is.
    pub written: &'c dyn Fn(&str) -> Option<&'a str>,
    /// Whether this is the pod that the API server stores: nothing gives it a resource any more.
    pub is_final: bool,
}

/// The value of an entry of a container, with its place; `None` where the pod does not show it.
#[must_use]
pub fn value_shown_by_pod<'a>(
    (place, entry): (usize, &'a EnvVar<'_>),
    container: &'a Container<'_>,
    shown: PodBehindVariables<'a, '_, '_>,
) -> Option<Cow<'a, str>> {
    let Some(from) = entry.value_from.as_deref() else {
        return container.expanded_literal(place).map(Cow::Borrowed);
    };
    if let Some(field) = &from.field_ref {
        return value_of_field(field.field_path.as_deref()?, shown).map(Cow::Borrowed);
    }
    let resource = from.resource_field_ref.as_ref()?;
    value_of_resource(resource, container, shown).map(|units| Cow::Owned(units.to_string()))
}

/// A field that the pod has from its creation (kubernetes/kubernetes pkg/fieldpath). A label or annotation that is
/// missing may be added before the container starts.
fn value_of_field<'a>(
    path: &str,
    PodBehindVariables { pod, namespace, written, .. }: PodBehindVariables<'a, '_, '_>,
) -> Option<&'a str> {
    let metadata = pod.metadata.as_ref();
    let key = |list: &str| path.strip_prefix(list)?.strip_prefix("['")?.strip_suffix("']");
    if let Some(key) = key("metadata.annotations") {
        // Multus writes these when the pod starts, before its containers do.
        let by_multus =
            matches!(key, "k8s.v1.cni.cncf.io/network-status" | "k8s.v1.cni.cncf.io/networks-status");
        return if by_multus { None } else { written(key).or_else(|| pod.annotation(key)) };
    }
    if let Some(key) = key("metadata.labels") {
        return pod.label(key);
    }
    let text = match path {
        "metadata.namespace" => Some(namespace),
        "metadata.name" => metadata?.name.as_deref(),
        "spec.serviceAccountName" => pod.spec.as_ref()?.service_account_name.as_deref(),
        _ => None,
    };
    text.filter(|text| !text.is_empty())
}

/// The quantity of a container's resource, in units of the divisor, rounded up (kubernetes/kubernetes
/// pkg/api/v1/resource/helpers.go, ExtractContainerResourceValue).
fn value_of_resource(
    from: &ResourceFieldRef<'_>,
    own: &Container<'_>,
    shown: PodBehindVariables<'_, '_, '_>,
) -> Option<i128> {
    let container = match from.container_name.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => shown.pod.container_named(name)?,
        None => own,
    };
    let (list, resource) = from.resource.as_deref()?.split_once('.')?;
    let limit = container.limits().and_then(|limits| limits.get(resource));
    let huge = resource.starts_with("hugepages-");
    let (known, zero_if_absent) = match list {
        "limits" => (limit, huge),
        // The API server sets a request that is absent to the limit.
        "requests" => {
            let request = container.requests().and_then(|requests| requests.get(resource));
            (request, limit.is_none() && (huge || RESOURCES_FILLED_FROM_NODE.contains(&resource)))
        }
        _ => return None,
    };
    let zero = Quantity::from_units(0);
    let quantity = match known {
        Some(quantity) => Quantity::parse(&quantity.0).ok()?,
        None if zero_if_absent && shown.is_final => zero,
        None => return None,
    };
    if list == "limits" && quantity == zero && RESOURCES_FILLED_FROM_NODE.contains(&resource) {
        return None;
    }
    let one = Quantity::from_units(1);
    let divisor = match &from.divisor {
        Some(text) => Quantity::parse(&text.0).ok()?,
        None => one,
    };
    quantity.in_units_of(if divisor == zero { one } else { divisor })
}

/// Resources of which the kubelet takes what the pod or the node has, where a container has no limit or a limit of 0
/// (kubernetes/kubernetes pkg/api/v1/resource/helpers.go, MergeContainerResourceLimits).
const RESOURCES_FILLED_FROM_NODE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(env: &str) -> String {
        format!(
            r#"{{"metadata":{{"name":"p","labels":{{"l":"5"}},"annotations":{{"x":"7","a.b/c":"8","k8s.v1.cni.cncf.io/networks":"n","k8s.v1.cni.cncf.io/network-status":"[]","fabric-admission.dev/injected":"p@1","fabric-admission.dev/file.x":"6"}}}},"spec":{{"serviceAccountName":"9",
                "containers":[{{"name":"a","env":[{env}],"resources":{{"limits":{{"cpu":"1500m","memory":"2Gi"}}}}}},
                    {{"name":"b","resources":{{"requests":{{"cpu":3}}}}}}]}}}}"#
        )
    }

    #[test]
    fn of_each_source() {
        let field = |path: &str| format!(r#"{{"fieldRef":{{"fieldPath":"{path}"}}}}"#);
        let resource = |rest: &str| format!(r#"{{"resourceFieldRef":{{{rest}}}}}"#);
        for (from, expected) in [
            (field("metadata.annotations['x']"), Some("7")),
            (field("metadata.annotations['a.b/c']"), Some("8")),
            (field("metadata.annotations['gone']"), None),
            (field("metadata.annotations['k8s.v1.cni.cncf.io/networks']"), Some("n")),
            (field("metadata.annotations['k8s.v1.cni.cncf.io/network-status']"), None),
            (field("metadata.annotations['fabric-admission.dev/injected']"), Some("p@2")),
            (field("metadata.annotations['fabric-admission.dev/file.x']"), Some("6")),
            (field("metadata.labels['l']"), Some("5")),
            (field("metadata.name"), Some("p")),
            (field("metadata.namespace"), Some("n")),
            (field("spec.serviceAccountName"), Some("9")),
            (field("status.podIP"), None),
            (resource(r#""resource":"limits.cpu""#), Some("2")),
            (resource(r#""resource":"limits.cpu","divisor":"1m""#), Some("1500")),
            (resource(r#""resource":"limits.memory","divisor":"1Gi""#), Some("2")),
            (resource(r#""resource":"limits.cpu","divisor":"0""#), Some("2")),
            (resource(r#""resource":"requests.cpu","containerName":"b""#), Some("3")),
            (resource(r#""resource":"requests.cpu""#), None),
            (r#"{"configMapKeyRef":{"name":"c","key":"k"}}"#.to_owned(), None),
        ] {
            let json = pod(&format!(r#"{{"name":"A","valueFrom":{from}}}"#));
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            let container = &pod.containers()[0];
            let written = |key: &str| (key == "fabric-admission.dev/injected").then_some("p@2");
            let shown = PodBehindVariables { pod: &pod, namespace: "n", written: &written, is_final: false };
            assert_eq!(
                value_shown_by_pod((0, &container.env()[0]), container, shown).as_deref(),
                expected,
                "{from}"
            );
        }
    }

    #[test]
    fn of_a_resource_that_the_stored_pod_lacks() {
        for (resource, resources, expected) in [
            ("requests.cpu", "{}", Some("0")),
            ("requests.memory", "{}", Some("0")),
            ("requests.ephemeral-storage", "{}", Some("0")),
            ("requests.hugepages-2Mi", "{}", Some("0")),
            ("limits.hugepages-2Mi", "{}", Some("0")),
            ("requests.cpu", r#"{"limits":{"cpu":2}}"#, None),
            ("requests.cpu", r#"{"requests":{"cpu":0}}"#, Some("0")),
            ("limits.cpu", "{}", None),
            ("limits.cpu", r#"{"limits":{"cpu":0}}"#, None),
            ("limits.memory", "{}", None),
            ("requests.nvidia.com/gpu", "{}", None),
        ] {
            let json = format!(
                r#"{{"spec":{{"containers":[{{"name":"a","resources":{resources},"env":[{{"name":"A","valueFrom":{{"resourceFieldRef":{{"resource":"{resource}"}}}}}}]}}]}}}}"#
            );
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            let container = &pod.containers()[0];
            let shown = PodBehindVariables { pod: &pod, namespace: "n", written: &|_| None, is_final: true };
            assert_eq!(
                value_shown_by_pod((0, &container.env()[0]), container, shown).as_deref(),
                expected,
                "{resource}"
            );
            let before = PodBehindVariables { is_final: false, ..shown };
            let expected = expected.filter(|_| resources.contains("requests"));
            assert_eq!(
                value_shown_by_pod((0, &container.env()[0]), container, before).as_deref(),
                expected,
                "{resource}"
            );
        }
    }

    #[test]
    fn of_several_entries() {
        let optional =
            r#"{"name":"A","valueFrom":{"configMapKeyRef":{"name":"c","key":"k","optional":true}}}"#;
        let given = optional.replace(",\"optional\":true", "");
        let text = |value: &str| format!(r#"{{"name":"A","value":"{value}"}}"#);
        for (env, expected) in [
            (format!("{},{}", text("1"), text("2")), vec![1]),
            (format!("{},{optional}", text("1")), vec![1, 0]),
            (format!("{},{given}", text("1")), vec![1]),
            (format!("{},{},{optional},{optional}", text("1"), text("2")), vec![3, 2, 1]),
            (r#"{"name":"B"}"#.to_owned(), vec![]),
        ] {
            let json = pod(&env);
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            let places: Vec<usize> =
                entries_that_may_decide(&pod.containers()[0], "A").map(|(nth, _)| nth).collect();
            assert_eq!(places, expected, "{env}");
        }
    }
}
