//! Which profile a pod gets, and by what evidence. A pure function of the pod's template fields, its namespace, the
//! profiles and the label sets of nodes. The number of nodes, their readiness, cordons and free capacity do not
//! count, so that the ranks of one job get one profile (docs/adr/0009).
//!
//! `order_of_evidence` asks for each kind of evidence in turn, and `which_candidate_of_nodes_wins` decides between several
//! profiles of nodes or selectors. Several profiles by the pod's own resources and networks are found in
//! `profile_by_resources_and_networks`.
//! Each other file answers one question for them, or for those who explain the result (`explain_resolution`,
//! `profile_status`). What a pod gets from its profile is decided in `plan`, not here.

mod candidates_by_nodes;
mod candidates_while_no_node_exists;
mod changed_since_injection;
mod compare_selectors;
mod default_profile;
mod does_pod_meet_profile_when;
pub mod explain_resolution;
mod if_unknown_claims_are_accelerators;
mod index_of_admitted_namespaces;
mod kinds_of_result_and_evidence;
mod missing_networks_and_resources;
mod namespaces_using_profile;
mod node_classes_by_resources;
mod order_of_evidence;
mod profile_by_name;
mod profile_by_resources_and_networks;
pub mod profile_status;
mod profiles_asked_by_selectors;
mod rail_faults;
mod selector_strength;
mod which_candidate_of_nodes_wins;
mod whose_require_and_forbid_hold;
mod words_of_own_resources_and_networks;

pub(crate) use crate::snapshot::admits;
pub(crate) use candidates_by_nodes::waits_for_nodes_of_profile;
pub use changed_since_injection::SinceInjection;
pub(crate) use compare_selectors::Conditions;
pub(crate) use default_profile::default_profile;
pub(crate) use does_pod_meet_profile_when::unmet_condition_of_when;
pub(crate) use if_unknown_claims_are_accelerators::{
    IfUnknownClaimsAreAccelerators, try_unknown_claims_as_accelerators_and_restore_subject,
};
pub use kinds_of_result_and_evidence::{
    AmbiguityCause, Evidence, MAX_CANDIDATES_SHOWN, Resolution, ResolutionKind,
};
pub use missing_networks_and_resources::{
    MissingNetworkOrResource, missing_for_every_namespace, missing_networks_and_resources,
};
pub use namespaces_using_profile::{count_enforcing_namespaces, namespaces_that_use};
pub(crate) use node_classes_by_resources::without_classes_lacking_accelerators;
pub use order_of_evidence::resolve_profile_of_pod;
pub use rail_faults::{RailFault, rail_faults};
pub use selector_strength::Strength;
pub(crate) use whose_require_and_forbid_hold::{PlannedForNodes, profiles_of_nodes_also_held};
