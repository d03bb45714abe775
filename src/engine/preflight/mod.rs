//! `preflight`: what a pod sees of its fabric on its node, judged before training starts. Everything here takes bytes that
//! the shell read (`pod_agent`), and gives verdicts and texts.

mod check;
pub mod checks;
pub mod expect;
mod gid_rows;
pub mod outcome;
pub mod report;
pub mod seen;

pub use check::Check;
