//! Places that many findings are about.

use crate::multus::NETWORKS_ANNOTATION;
use crate::text::token;

/// The networks annotation of a pod.
pub(in crate::rules) fn annotation_path() -> String {
    format!("/metadata/annotations/{}", token(NETWORKS_ANNOTATION))
}
