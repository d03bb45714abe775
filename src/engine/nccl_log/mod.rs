//! Output of NCCL with `NCCL_DEBUG`: what each rank of each communicator uses, and what differs. Bytes in, findings out.
//!
//! A log of 10 GB is read in bounded memory: [`Lines`] cuts long lines, [`Log`] keeps facts and no lines, and whatever
//! is beyond a limit is counted ([`Skipped`]).

mod head;
mod judge;
mod kind;
mod known;
mod lines;
mod log;
mod message;
#[cfg(test)]
mod message_tests;
mod names;
mod ranks;
mod reasons;
#[cfg(test)]
mod tests;
mod transport;
mod view;

pub use judge::{Finding, judge};
pub use kind::{Kind, Level};
pub use known::Matched;
pub use lines::{Cut, LONGEST_LINE, Lines, Place};
pub use log::{Communicator, Host, Log, Rank, Skipped};
pub use message::{Message, message};
pub use ranks::{Direct, numbers};
pub use transport::{Transport, transport};

pub use head::{Head, Line, line};
