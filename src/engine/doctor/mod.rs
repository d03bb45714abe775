//! `doctor`: whether an installation works, decided from facts that were read before. Each check is one declaration: what
//! it reads, what it decides, and its part of docs/doctor.md. What the API server would do, what a profile lacks and what a
//! label means is decided where the webhook decides it; a check only asks.
//!
//! A check never takes silence for health: what could not be read is skipped, with the reason.

mod accelerators;
pub mod calls;
mod certificates;
mod check;
mod checks;
mod configurations;
mod custom_resources;
mod end_to_end;
mod facts;
mod kubernetes;
mod limits;
mod names;
mod namespaces;
mod network_policy;
mod networks;
mod order;
mod outcome;
pub mod page;
mod profiles;
pub mod report;
mod rights;
mod server;
pub mod sources;
pub mod table;

pub use check::{Check, Phase, Section};
pub use checks::CHECKS;
pub use facts::{Certificate, Facts, NotTried, Replica, Right, Tried};
pub use kubernetes::http_date;
pub use names::{MUTATING, NAME, VALIDATING};
pub use outcome::{Kind, Outcome};
