//! One look at everything.

use super::files::{OTHER, Root};
use super::kernel::{Kernel, Recorded, Running};
use super::{gpus, image, peers, rdma_devices};
use crate::preflight::expect::{Expectation, VARIABLE};
use crate::preflight::seen::{Limits, Seen};
use crate::rdma::process;

/// What one run reads.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where.
    pub root: Root,
    /// The expectation, where it does not come from the environment.
    pub expect: Option<String>,
}

/// The text of the expectation: of the options, else of the environment.
#[must_use]
pub fn expectation(options: &Options) -> Option<String> {
    let root = &options.root;
    let of_environment = || match root.is_container() {
        true => Running { root }.environment().remove(VARIABLE),
        false => Recorded { root }.environment().remove(VARIABLE),
    };
    options.expect.clone().or_else(of_environment)
}

/// Reads everything.
#[must_use]
pub fn look(options: &Options) -> Seen {
    let root = &options.root;
    let running = Running { root };
    let recorded = Recorded { root };
    let kernel: &dyn Kernel = if root.is_container() { &running } else { &recorded };
    let mut environment = kernel.environment();
    environment.retain(|name, _| is_read(name));
    let expectation = expectation(options).map(|text| Expectation::parse(&text)).transpose();
    let nodes = rdma_devices::nodes(root);
    let devices = rdma_devices::devices(root, &nodes);
    let peers = expectation.iter().flatten().flat_map(|expected| expected.peers.clone());
    Seen {
        image: image::image(root, &environment, &devices),
        devices,
        nodes,
        device_files: rdma_devices::device_files(root),
        interfaces: rdma_devices::interfaces(root),
        addresses: kernel.addresses(),
        namespace_mode: kernel.namespace_mode(),
        limits: Limits {
            memlock: root.read("/proc/self/limits", OTHER).and_then(|content| process::memlock(&content)),
            ipc_lock: root.read("/proc/self/status", OTHER).and_then(|content| process::ipc_lock(&content)),
            initial_user_namespace: root
                .read("/proc/self/uid_map", OTHER)
                .and_then(|content| process::initial_user_namespace(&content)),
        },
        shm: gpus::shared_memory(root, kernel),
        gpu: gpus::gpu(root),
        peers: peers::reach(&peers.collect::<Vec<_>>()),
        environment,
        expectation,
    }
}

/// Whether a variable matters to a check. Others, and those that may hold a secret, are not kept.
fn is_read(name: &str) -> bool {
    const PREFIXES: [&str; 6] = ["NCCL_", "FI_", "OFI_NCCL_", "IBV_", "RDMAV_", "MLX5_"];
    const SECRETS: [&str; 4] = ["KEY", "SECRET", "TOKEN", "PSK"];
    // The row of a partition key is not a secret.
    let secret = SECRETS.iter().any(|part| name.contains(part)) && name != "NCCL_IB_PKEY";
    !secret && (name == "LD_LIBRARY_PATH" || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}
