//! `preflight`: what a pod sees of its fabric on its node, judged before training starts. Everything here takes bytes that
//! the shell read (`pod_agent`), and gives verdicts and texts.

mod check_declaration;
pub mod check_outcome;
pub mod checks;
mod device_of_interface;
pub mod expectation_document;
pub mod facts_json_for_monitor;
mod gid_choice;
mod gid_rows;
pub mod gpu_file;
pub mod ibverbs_providers;
pub mod image;
pub mod nccl_conf_lines_from_readings;
mod pci_distance;
pub mod preflight_report;
pub mod readings;
mod usable_devices;

pub use check_declaration::Check;
pub use gid_choice::address_range;
