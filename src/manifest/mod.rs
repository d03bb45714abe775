//! Kubernetes manifests as people write them: streams of YAML or JSON documents, each with the source
//! position of every node.
//!
//! The standard is kubectl. It splits a file into documents itself, reads each through sigs.k8s.io/yaml (a go-yaml v2
//! fork: YAML 1.1) and sends JSON. A manifest must mean the same here and in the cluster, so the values are those
//! that kubectl reads, `on` and `0644` included. kubectl does not keep the position of a value, which a reader of our
//! findings needs.

mod catch_panic;
mod document;
mod embedded_place;
mod emit;
mod error;
mod fault;
mod json;
mod merge;
mod node;
mod number;
mod pointer;
mod position;
mod read;
mod repair;
mod scalar;
mod split;
mod string_style;
mod write;
mod yaml;
mod yaml_causes;

pub use catch_panic::install_quiet_panic_hook;
pub use catch_panic::is_caught;
pub use document::{Document, Duplicate, Item};
pub use emit::to_yaml;
pub use error::InputError;
pub use pointer::range;
pub use position::Position;
pub use read::{part, read, without_document};
pub use yaml_causes::template_cause;
