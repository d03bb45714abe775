//! The same checks for `spec.resources`, which limits all containers together (KEP-2837).

use super::quantity::{problem_if_request_above_limit, why_quantity_is_refused};
use crate::pod::Quantity as Amount;
use crate::pod::pod_fields::Resources;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::text::{escaped_and_cut, json_pointer_token};

/// Every supported version of the API server decodes the field. It validates the field only if the feature gate is on,
/// which is the default since 1.34 (kubernetes/kubernetes pkg/features/kube_features.go).
pub(super) const REASON_FOR_WARNING: &str =
    "Kubernetes 1.33 drops spec.resources unless feature gate PodLevelResources is on";

pub(super) fn check(at: &str, resources: &Resources<'_>, findings: &mut FindingsOfRule<'_>) {
    let limits = resources.limits.as_ref();
    for (field, list) in [("limits", limits), ("requests", resources.requests.as_ref())] {
        for (name, text) in list.iter().flat_map(|l| l.iter()) {
            let path = || format!("{at}/{field}/{}", json_pointer_token(name));
            let shown = || escaped_and_cut(name, 80);
            let parsed = Amount::parse(&text.0);
            if let Some((what, fix)) = why_quantity_is_refused(parsed, false) {
                findings.add(path(), format!("{}: {:?} {what}", shown(), escaped_and_cut(&text.0, 40)), fix);
            } else if !is_supported(name) {
                findings.with_reason_for_lower_severity(REASON_FOR_WARNING).add_with_severity(
                    Severity::Warning,
                    path(),
                    format!("spec.resources has {}, but the API server accepts only cpu, memory and huge pages in spec.resources", shown()),
                    "Request the resource in the container that uses it.",
                );
            } else if let Ok(request) = parsed
                && field == "requests"
                && let Some((message, fix)) = problem_if_request_above_limit(name, (request, &text.0), limits)
            {
                findings.with_reason_for_lower_severity(REASON_FOR_WARNING).add_with_severity(
                    Severity::Warning,
                    path(),
                    message,
                    fix,
                );
            }
        }
    }
}

/// k8s.io/component-helpers resource/helpers.go (IsSupportedPodLevelResource).
fn is_supported(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}
