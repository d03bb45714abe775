//! The one way in: an object, a snapshot, a decision. The webhook, `review` and `audit` all come through here, so what
//! one says the others say. It calls resolution, plan, rules and patch in this order and joins their results; what they
//! decide is in their own modules.

pub mod admission_response;
pub mod admission_review;
#[cfg(test)]
mod audience_tests;
#[cfg(test)]
mod begin_again_on_other_thread_tests;
mod change_of_pod_networks;
#[cfg(test)]
mod change_of_pod_networks_tests;
mod changes_in_words;
#[cfg(test)]
mod comparison_limit_tests;
mod cost_of_small_bodies;
#[cfg(test)]
mod deadline_tests;
mod decide_object;
mod decide_pod;
mod decide_workload;
mod decision;
mod equal_templates_are_decided_once;
#[cfg(test)]
mod equal_templates_tests;
mod facts_for_request;
mod findings_on_train_job_with_runtime;
mod findings_on_variables_of_mpi_launcher;
mod is_denied;
mod is_pod_in_scope;
#[cfg(test)]
mod is_pod_in_scope_tests;
mod join_template_decisions;
#[cfg(test)]
mod json_reader_tests;
mod names_in_metadata;
mod only_new_findings_deny_updates;
mod order_of_findings;
mod pod_request;
mod response_warnings;
mod strategic_merge_patch;
mod template_progress;
mod verdict_for_metrics;
pub mod webhook_body;
mod who_asked_for_what;
mod workload_request;
mod workloads_without_template;

pub use cost_of_small_bodies::{read_beside, templates};
pub use decide_object::decide_object;
pub use decide_pod::{decide_pod, why_pod};
pub use decide_workload::decide_workload;
pub use decision::Decision;
use decision::Looked;
use is_denied::cap_and_sort_findings_then_set_verdict;
pub use pod_request::{PodRequest, Stage};
pub use verdict_for_metrics::Verdict;
pub use who_asked_for_what::RequestNames;
pub use workload_request::{WorkloadDecision, WorkloadRequest, gang_of};
