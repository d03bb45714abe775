//! Claims on devices (DRA), as a pod names them and its containers use them.

use crate::json::types_of_decoded_fields::Text;
use serde::Deserialize;

/// An entry of `spec.resourceClaims`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodClaim<'a> {
    /// Name by which containers refer to it.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    /// Template the claim is made from.
    #[serde(borrow, default)]
    pub resource_claim_template_name: Option<Text<'a>>,
    /// Existing claim, shared by all pods that name it.
    #[serde(borrow, default)]
    pub resource_claim_name: Option<Text<'a>>,
}

/// `resources.claims[]`.
#[derive(Debug, Default, Deserialize)]
pub struct ContainerClaim<'a> {
    /// Name in `spec.resourceClaims`.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    /// The one request of the claim that it uses; `None` uses all.
    #[serde(borrow, default)]
    pub request: Option<Text<'a>>,
}

impl ContainerClaim<'_> {
    /// The request that it names, if it names one. Of one of several alternatives, as `request/alternative`, the request
    /// (k8s.io/api/core/v1, `ResourceClaim`).
    pub(crate) fn named_request(&self) -> Option<&str> {
        let request = self.request.as_deref().filter(|request| !request.is_empty())?;
        request.split('/').next()
    }
}
