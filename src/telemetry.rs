//! Logs, and the table of all metrics. Each module counts its own metrics.

mod decision_line_limit;
mod log_rate_limit;
pub mod metric_table;
mod write_log_lines;

pub use decision_line_limit::DecisionLineLimit;
pub use write_log_lines::{
    LogThread, counter_of_dropped_lines, counter_of_left_out_lines, install_log_writer_and_panic_hook,
    wait_until_log_thread_ends,
};
