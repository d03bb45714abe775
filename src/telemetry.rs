//! Logs, and the table of all metrics. Each module counts its own metrics.

mod decision_line_limit;
mod log_rate_limit;
pub mod metric_table;
mod write_log_lines;

pub use decision_line_limit::DecisionLines;
pub use write_log_lines::{Writing, dropped, install, left_out, wait_until_log_thread_ends};
