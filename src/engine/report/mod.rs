//! Results as people and programs read them: text, JSON, policies, and the generated pages of docs. Answers of the
//! webhook are in `review::admission_response`; nothing here decides.

pub mod admission_policies;
pub mod audit;
pub mod baseline_comparison;
pub mod baseline_comparison_text;
pub mod baseline_file_format;
pub mod ci;
pub mod docs_page_of_profiles;
pub mod docs_page_of_rules;
pub mod finding_identity_for_baselines;
mod finding_message;
pub mod is_finding_in_baseline;
pub mod isolation_policy;
pub mod profile_list;
pub mod reserved_names_policy;
pub mod review_json;
pub mod review_summary_by_rule;
pub mod review_text;
mod reviewed;
pub mod source_line_snippet;
pub mod terminal_lines;
pub mod unread_by_audit;
pub mod verify_log;
pub mod why;

pub use finding_message::message;
pub use reviewed::{Located, Place, Repeated, Reviewed, Skipped, Source, Summary, Unread};
