//! What each container of a pod asks of accelerators: by resources, by resources that a DeviceClass stands behind, and
//! by claims on devices; and the subject, which holds all known facts about one pod. Requests for networks belong to
//! `multus`, what is added to `plan`.

mod accelerators_of_containers;
pub mod claimed_devices;
mod subject;
pub(crate) mod worked_out_once;

pub use accelerators_of_containers::Demands;
pub use subject::Subject;
