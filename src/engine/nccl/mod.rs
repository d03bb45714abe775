//! Variables of NCCL and its companions: their names, how each is read, and how programs take a value in a pod. The
//! table is `variables.txt`; everything here is a function of names and texts only. Findings about variables are in
//! `rules::nccl`.

pub mod interface_and_device_lists;
pub mod misread_values;
pub mod numbers_as_nccl_reads;
pub mod parse_nccl_conf;
pub mod transport;
pub mod unread_variable_names;
pub mod variable_table;
pub mod version_of_image;

pub use transport::Transport;
pub use unread_variable_names::{Unread, why_name_is_unread};
pub use variable_table::{Reading, Status, Variable, all_variables, find_variable};
pub use version_of_image::NcclVersion;

/// The release whose source the table was made from. Later ones may read more.
pub const NEWEST_RELEASE_IN_TABLE: &str = "2.30.7";
