//! `preflight`: what a pod sees of its fabric on its node, judged before training starts. Everything here takes bytes that
//! the shell read (`pod_agent`), and gives verdicts and texts.

mod check;
pub mod checks;
pub mod conf;
mod distance;
pub mod expect;
pub mod facts_file;
mod gid_choice;
mod gid_rows;
pub mod gpu_file;
pub mod image;
pub mod outcome;
pub mod providers;
mod rails;
pub mod readings;
pub mod report;
mod usable;

pub use check::Check;
pub use gid_choice::address_range;
