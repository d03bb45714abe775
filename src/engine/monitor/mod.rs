//! What `monitor` exports: readings in, text of Prometheus out. A reading that is missing is absent, never 0.

mod gid_changes;
mod monitor_page;
mod other_metrics;
mod parse_nccl_ras_answer;
mod prometheus_text;
mod readings_of_scrape;
mod transport_by_traffic;
mod transport_in_use;
mod which_counters_become_metrics;

pub use gid_changes::Gids;
pub use monitor_page::page;
pub use parse_nccl_ras_answer::{MAX_ANSWER_BYTES as LONGEST_RAS_ANSWER, Ras, RasAnswer, ras_answer};
pub use prometheus_text::{ScrapeReadings, text};
pub use readings_of_scrape::{Interface, Port, SharedMemory};
pub use transport_by_traffic::{Moved, Rates, Sample, Traffic};
pub use transport_in_use::{Source, Used, transport_name, transport_of};
pub use which_counters_become_metrics::{COUNTERS, Folder, PortCounter};

/// Names of all metrics.
#[must_use]
pub fn metrics() -> Vec<String> {
    let counters = COUNTERS.iter().map(|counter| format!("node_infiniband_{}", counter.metric));
    counters.chain(other_metrics::OTHERS.iter().map(|other| other.name.to_owned())).collect()
}
