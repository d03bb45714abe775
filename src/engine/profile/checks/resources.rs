//! Checks of `resources`, the resources that do not follow the rails, and of the name of any extended resource.

use crate::multus::parse_networks_annotation;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::{Per, Resource, Spec};

/// Checks the resources.
pub(in crate::profile) fn checked_resources(
    spec: &Spec,
    fail: &Fail<'_>,
) -> Result<Vec<Resource>, ProfileError> {
    for (i, resource) in spec.resources.iter().flatten().enumerate() {
        check_resource_name(&resource.name, &format!("/spec/resources/{i}/name"), fail)?;
        if spec.resources.iter().flatten().take(i).any(|r| r.name == resource.name) {
            return Err(fail(&format!("/spec/resources/{i}/name"), format!("duplicate {:?}", resource.name)));
        }
        if !(1..=1024).contains(&resource.quantity) {
            return Err(fail(&format!("/spec/resources/{i}/quantity"), "expected 1 to 1024".into()));
        }
        if resource.per == Per::Rail && spec.rails.iter().flatten().next().is_none() {
            let message = "per: rail has no effect, because the profile has no rails".into();
            return Err(fail(&format!("/spec/resources/{i}/per"), message));
        }
        if spec.rails.iter().flatten().any(|r| r.resource.as_ref() == Some(&resource.name)) {
            let message = format!("a rail already requests {:?}; remove the resource here", resource.name);
            return Err(fail(&format!("/spec/resources/{i}/name"), message));
        }
    }
    Ok(spec.resources.clone().unwrap_or_default())
}

/// Checks the name of an extended resource.
pub(super) fn check_resource_name(name: &str, pointer: &str, fail: &Fail<'_>) -> Result<(), ProfileError> {
    let valid = name.split_once('/').is_some_and(|(domain, rest)| {
        parse_networks_annotation::is_dns_subdomain(domain)
            && !domain.ends_with("kubernetes.io")
            && (1..=63).contains(&rest.len())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
            && rest.starts_with(|c: char| c.is_ascii_alphanumeric())
            && rest.ends_with(|c: char| c.is_ascii_alphanumeric())
    });
    if valid {
        Ok(())
    } else {
        Err(fail(pointer, format!("{name:?} is not an extended resource; write domain/name")))
    }
}
