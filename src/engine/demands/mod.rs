//! What each container of a pod asks of accelerators: by resources, by resources that a DeviceClass stands behind, and
//! by claims on devices; and the subject, which holds all known facts about one pod. Requests for networks belong to
//! `multus`, what is added to `plan`.

mod accelerators_of_containers;
pub(crate) mod answers_per_fact;
pub mod claimed_devices;
mod subject;

pub use accelerators_of_containers::AcceleratorDemands;
pub use subject::Subject;
