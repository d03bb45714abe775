//! JSON pointers of places in a pod.

use crate::multus::NETWORKS_ANNOTATION;
use crate::text::json_pointer_token;
use std::fmt::Display;

/// An annotation.
pub(super) fn annotation(key: &str) -> String {
    format!("/metadata/annotations/{}", json_pointer_token(key))
}

/// The networks annotation.
pub(super) fn networks_annotation() -> String {
    annotation(NETWORKS_ANNOTATION)
}

/// An app container.
pub(super) fn container(index: usize) -> String {
    format!("/spec/containers/{index}")
}

/// A value of an app container, such as `env/3`.
pub(super) fn in_container(index: usize, below: impl Display) -> String {
    format!("/spec/containers/{index}/{below}")
}

/// A limit of an app container.
pub(super) fn limit(index: usize, resource: &str) -> String {
    in_container(index, format_args!("resources/limits/{}", json_pointer_token(resource)))
}

/// A claim of the pod.
pub(super) fn claim(index: usize) -> String {
    format!("/spec/resourceClaims/{index}")
}

/// A volume.
pub(super) fn volume(index: usize) -> String {
    format!("/spec/volumes/{index}")
}
