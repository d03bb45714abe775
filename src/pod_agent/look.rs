//! One look at everything.

use super::files::{OTHER, Root};
use super::kernel::{Kernel, Recorded, Running};
use super::rdma_devices;
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

/// Reads everything.
#[must_use]
pub fn look(options: &Options) -> Seen {
    let root = &options.root;
    let running = Running { root };
    let recorded = Recorded { root };
    let kernel: &dyn Kernel = if root.is_container() { &running } else { &recorded };
    let mut environment = kernel.environment();
    let expect = options.expect.clone().or_else(|| environment.get(VARIABLE).cloned());
    environment.retain(|name, _| is_read(name));
    let nodes = rdma_devices::nodes(root);
    Seen {
        expectation: expect.map(|text| Expectation::parse(&text)).transpose(),
        devices: rdma_devices::devices(root, &nodes),
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
        environment,
        ..Seen::nothing("not read")
    }
}

/// Whether a variable matters to a check. Others, which may hold secrets, are not kept.
fn is_read(name: &str) -> bool {
    const PREFIXES: [&str; 6] = ["NCCL_", "FI_", "OFI_NCCL_", "IBV_", "RDMAV_", "MLX5_"];
    name == "LD_LIBRARY_PATH" || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
