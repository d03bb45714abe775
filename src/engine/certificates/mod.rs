//! The certificates of `--tls-mode self-managed`, without input and output: from the content of the Secret and the
//! caBundles to the next step. The shell signs, verifies, reads and writes (`certificate_keeper`, `cluster::secret_and_webhook_configurations`).
//!
//! Three invariants hold at every time between two writes (docs/adr/0015-own-certificates.md):
//!
//! 1. every leaf in use chains to a CA in the caBundle of both configurations, in the version of every API server;
//! 2. at most one CA is current, by compare-and-swap;
//! 3. a replica is ready only while it verifies the first one for its own leaf.

mod ca_bundle_fight_with_another_writer;
mod ca_certificate;
mod ca_steps;
#[cfg(test)]
mod ca_steps_model_tests;
mod how_long_marks_were_seen;
mod lifetimes;
pub mod secret_fields;
mod serving_certificate_renewal;
mod what_ca_bundles_hold;
mod what_ca_secret_holds;
mod x509_reader;

pub use ca_bundle_fight_with_another_writer::RepeatedChanges;
pub use ca_certificate::{Authority, NAME};
pub use ca_steps::{Change, Step, next, record_after_change};
pub use how_long_marks_were_seen::{Marks, Seen};
pub use lifetimes::Lifetimes;
pub use serving_certificate_renewal::{Leaf, Reason, leaf_is_due, may_renew_with_ca_missing_from_secret};
pub use what_ca_bundles_hold::Look;
pub use what_ca_secret_holds::{Key, Record, Signer};
pub use x509_reader::days_since_epoch;
pub use x509_reader::{Fields, common_name, common_names, parse_fields};
