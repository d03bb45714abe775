//! JSON pointers of places in a pod.

use crate::multus::NETWORKS_ANNOTATION;
use crate::text::token;
use std::fmt::Display;

/// An annotation.
pub(super) fn annotation(key: &str) -> String {
    format!("/metadata/annotations/{}", token(key))
}

/// The networks annotation.
pub(super) fn annotation_path() -> String {
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
    in_container(index, format_args!("resources/limits/{}", token(resource)))
}

/// A claim of the pod.
pub(super) fn claim(index: usize) -> String {
    format!("/spec/resourceClaims/{index}")
}

/// A volume.
pub(super) fn volume(index: usize) -> String {
    format!("/spec/volumes/{index}")
}
