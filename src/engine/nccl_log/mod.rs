//! Output of NCCL with `NCCL_DEBUG`: what each rank of each communicator uses, and what differs. Bytes in, findings out.
//!
//! A log of 10 GB is read in bounded memory: [`Lines`] cuts long lines, [`Log`] keeps facts and no lines, and whatever
//! is beyond a limit is counted ([`Skipped`]).

mod finding_kinds;
mod gpudirect_and_network_use;
mod line_head;
mod lines_explain_knows;
mod log_facts;
mod message;
#[cfg(test)]
mod message_tests;
mod questions_about_log;
mod ranks_communicators_processes;
mod shared_names;
mod split_lines;
#[cfg(test)]
mod tests;
mod transport_names;
mod what_is_wrong;
mod why_not_rdma;

pub use finding_kinds::{Kind, Level};
pub use gpudirect_and_network_use::{Direct, nics_of_list, number_ranges};
pub use lines_explain_knows::Matched;
pub use log_facts::Log;
pub use message::{Message, parse_message};
pub use ranks_communicators_processes::{Communicator, Process, Rank, Skipped};
pub use split_lines::{Cut, LONGEST_LINE, Lines, Place};
pub use transport_names::{Transport, transport};
pub use what_is_wrong::{Finding, findings_of_log};

pub use line_head::{Head, Line, split_head_from_message};
