//! Variables of NCCL and its companions: their names, how each is read, and how programs take a value in a pod. The
//! table is `variables.txt`; everything here is a function of names and texts only. Findings about variables are in
//! `rules::nccl`.

pub mod conf_file;
pub mod list;
pub mod number;
pub mod table;
pub mod transport;
pub mod unread;
pub mod value;
pub mod version;

pub use table::{Reading, Status, Variable, all, find};
pub use transport::Transport;
pub use unread::{Unread, unread};
pub use version::NcclVersion;

/// The release whose source the table was made from. Later ones may read more.
pub const KNOWN_UP_TO: &str = "2.30.7";
