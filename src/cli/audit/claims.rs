//! Claims of a pod, to know which kinds an audit of files needs.

use serde::Deserialize;
use std::collections::BTreeSet;

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

/// The kinds that the claims of a pod or pod template name. An object that cannot be read names none.
pub(super) fn kinds(json: &str) -> BTreeSet<&'static str> {
    // Most pods have no claims, and an audit reads 100,000.
    if !json.contains("\"resourceClaims\"") {
        return BTreeSet::new();
    }
    let claims = serde_json::from_str(json).map(|Pod { spec }| spec.resource_claims).unwrap_or_default();
    let kinds = claims.into_iter().flat_map(|claim| {
        let of_template = claim.resource_claim_template_name.map(|_| "ResourceClaimTemplate");
        [of_template, claim.resource_claim_name.map(|_| "ResourceClaim")].into_iter().flatten()
    });
    kinds.collect()
}

#[cfg(test)]
mod tests {
    use super::kinds;

    #[test]
    fn the_status_names_no_claims() {
        let pod = r#"{"spec": {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "t"}]},
            "status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "p-a"}]}}"#;
        assert_eq!(kinds(pod).into_iter().collect::<Vec<_>>(), ["ResourceClaimTemplate"]);
        let container = r#"{"spec": {"containers": [{"resources": {"claims": [{"name": "a"}]}}]}}"#;
        assert!(kinds(container).is_empty());
        assert!(kinds(r#"{"spec": {"resourceClaims": 1}}"#).is_empty());
    }
}
