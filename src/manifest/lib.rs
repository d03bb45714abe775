//! The reader and writer of Kubernetes manifests.

// A folder's own file, and not its parent's: this crate begins in the folder of its only module.
#[path = "mod.rs"]
pub mod manifest;
