//! `doctor`: whether an installation works, decided from facts that were read before. Each check is one declaration: what
//! it reads, what it decides, and its part of docs/doctor.md. What the API server would do, what a profile lacks and what a
//! label means is decided where the webhook decides it; a check only asks.
//!
//! A check never takes silence for health: what could not be read is skipped, with the reason.

mod all_checks;
mod api_server_version_and_clock;
mod are_dry_runs_changed_and_refused;
mod certificates;
mod check_declaration;
mod check_outcome;
mod custom_resources;
pub mod doctor_page;
pub mod doctor_report;
mod facts_that_were_read;
mod limit_ranges_and_quotas;
mod multus_and_device_plugins;
mod names_of_our_objects;
mod namespaces_opted_in;
mod network_policy;
mod nodes_with_accelerators;
pub mod probe_pods_and_their_answers;
mod profiles;
pub mod report_table;
mod rights;
mod webhook_configurations;
mod webhook_server;
mod webhooks_after_ours;
pub mod what_is_read;

pub use all_checks::CHECKS;
pub use api_server_version_and_clock::http_date;
pub use check_declaration::{Check, Phase, Section};
pub use check_outcome::{DoctorCheckOutcome, Kind};
pub use facts_that_were_read::{Certificate, Facts, NotTried, Replica, Right, Tried};
pub use names_of_our_objects::{MUTATING, NAME, VALIDATING};
