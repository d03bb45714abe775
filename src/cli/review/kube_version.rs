//! `--kube-version`: which versions of Kubernetes are supported.

use crate::kubernetes_version::{OLDEST, Version};

pub(super) fn parse_supported_kube_version(text: &str) -> Result<Version, String> {
    match Version::parse(text) {
        Some(version) if version.is_supported() => Ok(version),
        Some(_) => Err(format!("expected {OLDEST} or newer: older versions are not supported")),
        None => Err("expected a version such as 1.36".to_owned()),
    }
}
