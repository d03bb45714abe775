//! The one way in: an object, a snapshot, a decision. The webhook, `review` and `audit` all come through here, so what
//! one says the others say. It calls resolution, plan, rules and patch in this order and joins their results; what they
//! decide is in their own modules.

pub mod admission_response;
pub mod admission_review;
#[cfg(test)]
mod audience_tests;
#[cfg(test)]
mod begin_again_on_other_thread_tests;
mod changes_in_words;
#[cfg(test)]
mod comparison_limit_tests;
#[cfg(test)]
mod deadline_tests;
mod decide_object_that_makes_no_pods;
mod decide_pod;
mod decide_update_of_pod_networks;
#[cfg(test)]
mod decide_update_of_pod_networks_tests;
pub mod decide_webhook_request;
mod decide_workload;
mod decision;
#[cfg(test)]
mod equal_templates_tests;
mod findings_on_train_job_with_runtime;
mod findings_on_variables_of_mpi_launcher;
mod group_equal_templates_and_limit_work;
mod is_pod_in_scope;
#[cfg(test)]
mod is_pod_in_scope_tests;
mod is_small_enough_to_copy;
mod join_template_decisions;
#[cfg(test)]
mod json_reader_tests;
mod lower_severities_sort_and_judge;
mod names_in_metadata;
mod only_new_findings_of_updates_count;
mod order_of_findings;
mod pod_request;
mod response_warnings;
mod runtimes_and_template_bound_of_body;
mod snapshot_for_audience;
mod strategic_merge_patch;
mod template_progress;
mod verdict_for_metrics;
mod who_asked_for_what;
mod workload_request;
mod workloads_without_template;

pub use decide_object_that_makes_no_pods::decide_object_that_makes_no_pods;
pub use decide_pod::{decide_pod, explain_profile_of_pod};
pub use decide_workload::decide_workload;
pub use decision::Decision;
use decision::ScopeOfParts;
use lower_severities_sort_and_judge::lower_severities_then_sort_and_judge;
pub use pod_request::{PodRequest, Stage};
pub use runtimes_and_template_bound_of_body::{max_templates_in_body, stored_runtimes_of_train_job};
pub use verdict_for_metrics::Verdict;
pub use who_asked_for_what::RequestNames;
pub use workload_request::{WorkloadDecision, WorkloadRequest, gang_of};
