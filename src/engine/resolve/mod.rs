//! Which profile a pod gets, and by what evidence. A pure function of the pod's template fields, its namespace, the
//! profiles and the label sets of nodes. The number of nodes, their readiness, cordons and free capacity do not
//! count, so that the ranks of one job get one profile (docs/adr/0009).
//!
//! `order_of_evidence` asks for each kind of evidence in turn, and `which_profile_wins` decides between several profiles.
//! Each other file answers one question for them, or for those who explain the result (`why_sentences`,
//! `profile_status`). What a pod gets from its profile is decided in `plan`, not here.

mod also_held;
mod by_nodes;
mod by_pod;
mod default_profile;
mod missing;
mod order_of_evidence;
pub mod profile_status;
mod rail_faults;
mod resolution;
mod selector_strength;
mod selectors;
mod since_injection;
mod users;
mod when;
mod which_profile_wins;
pub mod why_sentences;
mod without_nodes;

pub(crate) use crate::snapshot::admits;
pub(crate) use also_held::{IfAccelerated, PlannedForNodes, also_held, if_accelerated};
pub(crate) use by_nodes::{awaits, without_others};
pub(crate) use default_profile::default_profile;
pub use missing::{Missing, missing, missing_anywhere};
pub use order_of_evidence::resolve;
pub use rail_faults::{RailFault, rail_faults};
pub use resolution::{Because, Evidence, Outcome, Resolution, SHOWN};
pub use selector_strength::Strength;
pub(crate) use selectors::Conditions;
pub use since_injection::SinceInjection;
pub use users::{enforcing, users};
pub(crate) use when::unmet;
