//! Containers of our own: `fabric-install` and `fabric-preflight`, which check the fabric before the training starts, and
//! the native sidecar `fabric-monitor`. They stand last among the init containers: preflight then sees what the
//! containers after it will see, and mesh proxies and native sidecars have their devices already (docs/adr/0024).

mod add_containers;
mod container_json;
mod monitor_flags;
mod monitor_resources;
mod preflight_expectation;
mod preflight_resources;
mod raw_pod_text;
mod volume_mount_json;
mod which_containers_are_added;

pub(super) use add_containers::add_containers_and_refusals_to_plan;
pub(super) use which_containers_are_added::{ContainersToAdd, decide_containers_to_add};
