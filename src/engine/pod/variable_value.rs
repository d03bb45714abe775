//! The value that a container's variable has at the start, as far as the pod itself shows it.

use super::fabric_signs::OWN_DOMAIN;
use super::quantity::Quantity;
use super::variable_sources::{ResourceFieldRef, ValueFrom};
use super::view::{Container, EnvVar, PodView};
use std::borrow::Cow;

/// The entries of a variable that can decide its value, with their places, the last one first: the last entry, and the
/// one before each whose source may be missing.
pub fn deciding<'c, 'a>(
    container: &'c Container<'a>,
    name: &str,
) -> impl Iterator<Item = (usize, &'c EnvVar<'a>)> {
    let named =
        container.env().iter().enumerate().rev().filter(move |(_, e)| e.name.as_deref() == Some(name));
    let mut counts = true;
    named.take_while(move |(_, entry)| {
        let now = counts;
        counts = entry.value_from.as_ref().is_some_and(ValueFrom::may_be_missing);
        now
    })
}

/// The value of an entry; `None` where the pod does not show it.
#[must_use]
pub fn value<'a>(
    entry: &'a EnvVar<'_>,
    container: &Container<'_>,
    pod: &'a PodView<'_>,
    namespace: &'a str,
) -> Option<Cow<'a, str>> {
    let Some(from) = &entry.value_from else { return entry.literal().map(Cow::Borrowed) };
    if let Some(field) = &from.field_ref {
        return of_field(field.field_path.as_deref()?, pod, namespace).map(Cow::Borrowed);
    }
    let resource = from.resource_field_ref.as_ref()?;
    of_resource(resource, container, pod).map(|units| Cow::Owned(units.to_string()))
}

/// A field that the pod has from its creation (kubernetes/kubernetes pkg/fieldpath). A label or annotation that is
/// missing may be added before the container starts.
fn of_field<'a>(path: &str, pod: &'a PodView<'_>, namespace: &'a str) -> Option<&'a str> {
    let metadata = pod.metadata.as_ref();
    let key = |list: &str| path.strip_prefix(list)?.strip_prefix("['")?.strip_suffix("']");
    if let Some(key) = key("metadata.annotations") {
        // Webhooks and Multus write these, so their texts may not be the user's.
        let written = matches!(
            key,
            "k8s.v1.cni.cncf.io/networks"
                | "k8s.v1.cni.cncf.io/network-status"
                | "k8s.v1.cni.cncf.io/networks-status"
        ) || key
            .strip_prefix(OWN_DOMAIN)
            .is_some_and(|key| key == "injected" || key.starts_with("file."));
        return if written { None } else { pod.annotation(key) };
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
/// pkg/api/v1/resource/helpers.go, ExtractContainerResourceValue). Without a limit, the kubelet takes that of the node; without a request, 0. The
/// pod itself does not show either.
fn of_resource(from: &ResourceFieldRef<'_>, own: &Container<'_>, pod: &PodView<'_>) -> Option<i128> {
    let container = match from.container_name.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => pod.container(name)?,
        None => own,
    };
    let (list, resource) = from.resource.as_deref()?.split_once('.')?;
    let list = match list {
        "limits" => container.limits(),
        "requests" => container.requests(),
        _ => None,
    };
    let quantity = Quantity::parse(&list?.get(resource)?.0).ok()?;
    let one = Quantity::from_units(1);
    let divisor = match &from.divisor {
        Some(text) => Quantity::parse(&text.0).ok()?,
        None => one,
    };
    quantity.in_units_of(if divisor == Quantity::from_units(0) { one } else { divisor })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(env: &str) -> String {
        format!(
            r#"{{"metadata":{{"name":"p","labels":{{"l":"5"}},"annotations":{{"x":"7","a.b/c":"8","k8s.v1.cni.cncf.io/networks":"n","fabric-admission.dev/injected":"p@1"}}}},"spec":{{"serviceAccountName":"9",
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
            (field("metadata.annotations['k8s.v1.cni.cncf.io/networks']"), None),
            (field("metadata.annotations['fabric-admission.dev/injected']"), None),
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
            assert_eq!(value(&container.env()[0], container, &pod, "n").as_deref(), expected, "{from}");
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
            let places: Vec<usize> = deciding(&pod.containers()[0], "A").map(|(nth, _)| nth).collect();
            assert_eq!(places, expected, "{env}");
        }
    }
}
