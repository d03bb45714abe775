//! Checks of `nodeSelector` and of `placement.nodeAffinity`, which needs one.

use crate::multus::parse_networks_annotation;
use crate::profile::placement_setting::NodeAffinity;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::{LabelSelector, Operator};

/// Checks what may be written into pods: the API server refuses a pod whose affinity has a broken key or value
/// (k8s.io/kubernetes pkg/apis/core/validation/validation.go, `ValidateNodeSelectorRequirement`).
pub(in crate::profile) fn check(
    selector: Option<&LabelSelector>,
    affinity: NodeAffinity,
    fail: &Fail<'_>,
) -> Result<(), ProfileError> {
    let empty = selector.is_none_or(|s| s.match_labels.is_empty() && s.match_expressions.is_empty());
    if affinity == NodeAffinity::Required && empty {
        let message = "nodeAffinity required needs a nodeSelector".into();
        return Err(fail("/spec/placement/nodeAffinity", message));
    }
    let Some(selector) = selector else { return Ok(()) };
    for (key, value) in &selector.match_labels {
        check_label(key, std::slice::from_ref(value), "/spec/nodeSelector/matchLabels", fail)?;
    }
    for (i, entry) in selector.match_expressions.iter().enumerate() {
        let pointer = format!("/spec/nodeSelector/matchExpressions/{i}");
        check_label(&entry.key, &entry.values, &pointer, fail)?;
        let listed = matches!(entry.operator, Operator::In | Operator::NotIn);
        if listed == entry.values.is_empty() {
            let message = if listed { "expected at least one value" } else { "expected no value" };
            let message = format!("{}: {message}", entry.operator.word());
            return Err(fail(&format!("{pointer}/values"), message));
        }
    }
    Ok(())
}

fn check_label(key: &str, values: &[String], pointer: &str, fail: &Fail<'_>) -> Result<(), ProfileError> {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if name.is_empty()
        || !is_label_value(name)
        || !prefix.is_none_or(parse_networks_annotation::is_dns_subdomain)
    {
        return Err(fail(pointer, format!("{key:?} is not a label key")));
    }
    match values.iter().find(|value| !is_label_value(value)) {
        Some(value) => Err(fail(pointer, format!("{value:?} is not a label value"))),
        None => Ok(()),
    }
}

/// Values of labels, which may be empty; names of labels are written alike
/// (k8s.io/apimachinery pkg/util/validation, `IsValidLabelValue` and `IsQualifiedName`).
fn is_label_value(text: &str) -> bool {
    let inner = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    let end = |c: char| c.is_ascii_alphanumeric();
    text.is_empty() || (text.len() <= 63 && inner && text.starts_with(end) && text.ends_with(end))
}
