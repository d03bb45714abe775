//! Results as people and programs read them: text, JSON, policies, and the generated pages of docs. Answers of the
//! webhook are in `review::admission_response`; nothing here decides.

pub mod audit;
pub mod baseline_comparison;
pub mod baseline_comparison_text;
pub mod baseline_comparison_while_reviewing;
pub mod baseline_file_format;
pub mod ci;
pub mod docs_page_of_profiles;
pub mod docs_page_of_rules;
pub mod finding_identity_for_baselines;
mod finding_message;
pub mod json_without_runner_commands;
pub mod policies_against_foreign_networks;
pub mod policies_of_rules_in_cel;
pub mod policies_on_who_sets_our_labels;
pub mod profile_list;
pub mod review_json;
mod review_result_types;
pub mod review_summary_by_rule;
pub mod review_text;
pub mod source_line_snippet;
pub mod terminal_lines;
pub mod unread_by_audit;
pub mod verify_log;
pub mod why;

pub use finding_message::message_with_profile_that_sets_value;
pub use review_result_types::{
    Located, Place, Repeated, ReviewedObject, Skipped, Source, Summary, UnreadInput,
};
