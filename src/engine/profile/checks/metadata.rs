//! Checks of `apiVersion`, `kind` and `metadata.name`.

use crate::multus::parse_networks_annotation;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::{API_VERSION, FabricProfile, KIND};

/// Checks that the object is a FabricProfile with a name that Kubernetes accepts.
pub(in crate::profile) fn check(profile: &FabricProfile, fail: &Fail<'_>) -> Result<(), ProfileError> {
    if profile.api_version != API_VERSION || profile.kind != KIND {
        let found = format!("{} {}", profile.api_version, profile.kind);
        return Err(fail("/apiVersion", format!("expected {API_VERSION} {KIND}, found {found:?}")));
    }
    if !parse_networks_annotation::is_dns_subdomain(&profile.metadata.name) {
        return Err(fail(
            "/metadata/name",
            "expected a name of lower-case letters, digits, '-' and '.'".into(),
        ));
    }
    Ok(())
}
