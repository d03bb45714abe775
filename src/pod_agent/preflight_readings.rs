//! One look at everything.

use super::bounded_files::{MAX_OTHER_BYTES, Root};
use super::kernel_answers::{Kernel, NOT_RECORDED, Recorded, Running};
use super::{find_nccl_conf_files, gpus_and_shared_memory, image_libraries, rdma_devices, reach_peers};
use crate::nccl::NcclVersion;
use crate::preflight::expectation_document::{Expectation, VARIABLE};
use crate::preflight::readings::{Limits, Readings};
use crate::rdma::process_limits;

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
pub fn read_expectation(options: &Options) -> Option<String> {
    let root = &options.root;
    let of_environment = || match root.is_container() {
        true => Running { root }.environment().ok()?.remove(VARIABLE),
        false => Recorded { root, without: NOT_RECORDED }.environment().ok()?.remove(VARIABLE),
    };
    options.expect.clone().or_else(of_environment)
}

/// Reads everything.
#[must_use]
pub fn read_everything(options: &Options) -> Readings {
    let root = &options.root;
    let running = Running { root };
    let recorded = Recorded { root, without: NOT_RECORDED };
    let kernel: &dyn Kernel = if root.is_container() { &running } else { &recorded };
    let mut environment = kernel.environment();
    let home = environment.as_ref().ok().and_then(|variables| variables.get("HOME").cloned());
    environment
        .iter_mut()
        .for_each(|variables| variables.retain(|name, _| find_nccl_conf_files::may_keep_variable(name)));
    let expectation =
        read_expectation(options).map(|text_at_pointer| Expectation::parse(&text_at_pointer)).transpose();
    let variables = environment.clone().unwrap_or_default();
    let nodes = rdma_devices::read_verbs_nodes(root);
    let devices = rdma_devices::read_devices(root, &nodes);
    let expected = expectation.as_ref().ok().and_then(Option::as_ref);
    let image_conf = find_nccl_conf_files::image_conf(root);
    let user_conf = |version: Option<NcclVersion>| {
        find_nccl_conf_files::user_conf(root, &variables, home.as_deref(), version)
    };
    let first_conf = user_conf(None);
    let setting = |name: &str| {
        find_nccl_conf_files::setting_in_force(name, &variables, (&first_conf, &image_conf), expected)
    };
    let image = image_libraries::read_image_libraries(root, &variables, setting("NCCL_NET_PLUGIN"), &devices);
    let version = image.nccl.as_ref().ok().map(|(version, _)| *version);
    let topology = setting("NCCL_TOPO_FILE").map(|path| root.size(path));
    let peers = expectation.iter().flatten().flat_map(|expected| expected.peers.clone());
    Readings {
        image,
        user_conf: user_conf(version),
        image_conf,
        topology,
        devices,
        nodes,
        device_files: rdma_devices::device_files(root),
        interfaces: rdma_devices::read_interfaces(root),
        addresses: kernel.addresses(),
        namespace_mode: kernel.namespace_mode(),
        limits: Limits {
            memlock: root
                .read_at_most("/proc/self/limits", MAX_OTHER_BYTES)
                .and_then(|content| process_limits::parse_memlock(&content)),
            ipc_lock: root
                .read_at_most("/proc/self/status", MAX_OTHER_BYTES)
                .and_then(|content| process_limits::ipc_lock(&content)),
            initial_user_namespace: root
                .read_at_most("/proc/self/uid_map", MAX_OTHER_BYTES)
                .and_then(|content| process_limits::initial_user_namespace(&content)),
        },
        shm: gpus_and_shared_memory::shared_memory(root, kernel),
        gpu: gpus_and_shared_memory::read_gpus(root),
        peers: reach_peers::connect_to_peers(&peers.collect::<Vec<_>>()),
        environment,
        expectation,
    }
}
