//! A plan as RFC 6902 operations on the raw object: only `add` and `replace`, no `test`, and a missing or
//! `null` parent is created whole. A patch that does not apply is HTTP 500 for the user whatever the
//! failurePolicy (k8s.io/apiserver pkg/admission/plugin/webhook/mutating/dispatcher.go), so every path here
//! follows from what the read model saw.

mod document;
mod plan_as_json_patch;

pub use document::{Operation, Patch};
pub use plan_as_json_patch::write_plan_as_json_patch;
