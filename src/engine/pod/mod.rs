//! A pod as it was sent: a borrowed read model, quantities, accelerators, and the variables that its shell text sets.
//! Nothing here knows the cluster or a profile: `demands` joins the pod with facts, `plan::overlay` with changes.

pub mod accelerator;
pub mod affinity;
mod annotations;
mod claim;
mod container_facts;
mod env;
pub mod fabric_signs;
pub mod gang;
mod gang_size;
pub mod limits;
mod memory;
mod name_marks;
pub mod nic;
pub mod own_containers;
mod place_index;
mod presence;
pub mod ranks;
mod read;
pub mod read_once;
pub mod scan;
pub mod shell;
mod source;
pub mod templates_by_shape;
#[cfg(test)]
mod templates_by_shape_tests;
pub mod units;
mod user;
pub mod variable_sources;
pub mod variable_value;
pub mod view;
mod volumes;
pub mod workload;

#[cfg(test)]
mod view_tests;

pub use crate::json::quantity::{Bytes, Quantity, QuantityError};
pub use accelerator::Accelerators;
pub use fabric_signs::FabricSigns;
pub use memory::memory_limit;
pub use user::runs_as_root;
pub use view::{Container, PodView};
