//! What a pod is to us: a borrowed read model, quantities, accelerators, and the variables its shell text
//! sets.

pub mod accelerator;
pub mod affinity;
mod claim;
pub mod claimed;
pub mod decode;
pub mod demands;
pub mod gang;
mod ignored;
mod memory;
pub mod nccl_version;
pub mod nic;
pub mod quantity;
pub mod ranks;
pub mod shell;
pub mod sources;
pub mod template;
pub mod units;
mod user;
pub mod view;
mod volumes;
pub mod workload;

pub use accelerator::Accelerators;
pub use demands::Demands;
pub use memory::memory_limit;
pub use nccl_version::NcclVersion;
pub use quantity::{Bytes, Quantity, QuantityError};
pub use view::{Container, PodView};
