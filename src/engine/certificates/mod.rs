//! The certificates of `--tls-mode self-managed`, without input and output: from the content of the Secret and the
//! caBundles to the next step. The shell signs, verifies, reads and writes (`certificate_keeper`, `cluster::certificate_objects`).
//!
//! Three invariants hold at every time between two writes (docs/adr/0015-own-certificates.md):
//!
//! 1. every leaf in use chains to a CA in the caBundle of both configurations, in the version of every API server;
//! 2. at most one CA is current, by compare-and-swap;
//! 3. a replica is ready only while it verifies the first one for its own leaf.

mod authority;
mod bundles;
mod ca_bundle_drift;
mod ca_steps;
mod der;
mod leaf;
mod leaf_renewal;
mod lifetimes;
mod mark_ages;
#[cfg(test)]
mod model_tests;
mod record;
pub mod secret;

pub use authority::{Authority, NAME};
pub use bundles::Look;
pub use ca_bundle_drift::Drift;
pub use ca_steps::{Change, Step, advance, next};
pub use der::days;
pub use der::{Fields, common_name, common_names, fields};
pub use leaf::Leaf;
pub use leaf_renewal::{Reason, last_resort, leaf_is_due};
pub use lifetimes::Lifetimes;
pub use mark_ages::{Marks, Seen};
pub use record::{Key, Record, Signer};
