//! The identity of a finding from run to run: by it a baseline recognizes a finding, and so do the fingerprints for CI
//! systems (`ci::fingerprints`) by its path.

mod packed_identity;
mod path_with_item_names;
mod rule_object_and_path;

pub use packed_identity::PackedIdentity;
pub use path_with_item_names::NamedPaths;
pub use rule_object_and_path::{FindingIdentity, ObjectName};
