//! Claims of a pod, to know which kinds an audit of files needs.

use crate::facts::DriverKind;
use crate::snapshot::Snapshot;
use serde::Deserialize;
use std::collections::BTreeSet;

const CLAIM: &str = "ResourceClaim";
const TEMPLATE: &str = "ResourceClaimTemplate";

#[derive(Deserialize)]
struct Pod {
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    resource_claims: Vec<Claim>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Claim {
    #[serde(default)]
    resource_claim_name: Option<String>,
    #[serde(default)]
    resource_claim_template_name: Option<String>,
}

/// What the claims of a pod or pod template name, each once: a kind, and the name of an object. An object that cannot be read
/// names nothing.
pub(super) fn objects_named_by_claims(json: &str) -> BTreeSet<(&'static str, String)> {
    // Most pods have no claims, and an audit reads 100,000.
    if !json.contains("\"resourceClaims\"") {
        return BTreeSet::new();
    }
    let claims = serde_json::from_str(json).map(|Pod { spec }| spec.resource_claims).unwrap_or_default();
    let named = claims.into_iter().flat_map(|claim| {
        let of_template = claim.resource_claim_template_name.map(|name| (TEMPLATE, name));
        [of_template, claim.resource_claim_name.map(|name| (CLAIM, name))].into_iter().flatten()
    });
    named.collect()
}

/// The classes of a claim of which nothing says what their devices are: neither a DeviceClass, nor the driver of the
/// request, nor the name of the class.
pub(super) fn unknown_classes<'a>(
    (kind, name): &(&str, String),
    namespace: &str,
    snapshot: &'a Snapshot,
) -> impl Iterator<Item = &'a str> {
    let claim = match *kind {
        TEMPLATE => snapshot.claim_template(namespace, name),
        _ => snapshot.claim(namespace, name),
    };
    let asks = claim.into_iter().flat_map(|claim| &claim.requests).flat_map(|request| &request.options);
    let drivers = &snapshot.settings().harmless_drivers;
    let unknown = asks.filter(|ask| {
        snapshot.device_class(&ask.class).is_none()
            && drivers.kind_of_driver(ask.driver_or_class_name(None)) == DriverKind::Unknown
    });
    unknown.map(|ask| ask.class.as_str())
}

#[cfg(test)]
mod tests {
    use super::{TEMPLATE, objects_named_by_claims};

    #[test]
    fn the_status_names_no_claims() {
        let pod = r#"{"spec": {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "t"}]},
            "status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "p-a"}]}}"#;
        assert_eq!(objects_named_by_claims(pod), [(TEMPLATE, "t".to_owned())].into());
        let container = r#"{"spec": {"containers": [{"resources": {"claims": [{"name": "a"}]}}]}}"#;
        assert!(objects_named_by_claims(container).is_empty());
        assert!(objects_named_by_claims(r#"{"spec": {"resourceClaims": 1}}"#).is_empty());
    }
}
