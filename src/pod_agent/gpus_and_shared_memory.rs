//! GPUs, their driver, and `/dev/shm`.

use super::bounded_files::{MAX_OTHER_BYTES, Root};
use super::kernel_answers::Kernel;
use crate::preflight::gpu_file;
use crate::preflight::readings::{Gpu, SharedMemory};
use crate::rdma::{Reading, Unreadable};
use std::collections::BTreeMap;
use std::fs;

const DRIVER: &str = "/proc/driver/nvidia";
/// Most GPUs of which the PCI address is read.
const MAX_GPUS: usize = 64;

pub(super) fn read_gpus(root: &Root) -> Gpu {
    let addresses = addresses(root);
    let devices = root.names_in_directory("/dev").map(|names| {
        let minors = names.iter().filter_map(|name| name.strip_prefix("nvidia")?.parse::<u32>().ok());
        let address = |minor| match &addresses {
            Ok(found) => found.get(&minor).cloned().ok_or(Unreadable::Missing),
            Err(why) => Err(why.clone()),
        };
        minors.take(MAX_GPUS).map(|minor| (minor, address(minor))).collect::<Vec<_>>()
    });
    let known = devices.iter().flatten().filter_map(|(_, address)| address.clone().ok());
    let pci_paths =
        known.map(|a| (a.clone(), root.path_without_links(&format!("/sys/bus/pci/devices/{a}")))).collect();
    let driver = root.read_at_most(&format!("{DRIVER}/version"), MAX_OTHER_BYTES);
    Gpu {
        devices,
        pci_paths,
        driver: driver.map(|content| String::from_utf8_lossy(&content).into_owned()),
        peermem: peermem(root),
    }
}

/// PCI addresses by the number of the device file.
fn addresses(root: &Root) -> Reading<BTreeMap<u32, String>> {
    let mut found = BTreeMap::new();
    for name in root.names_in_directory(&format!("{DRIVER}/gpus"))?.into_iter().take(MAX_GPUS) {
        let content = root.read_at_most(&format!("{DRIVER}/gpus/{name}/information"), MAX_OTHER_BYTES)?;
        found.insert(gpu_file::parse_device_minor(&content)?, name);
    }
    Ok(found)
}

/// Whether a module of GPUDirect RDMA is loaded: nvidia_peermem, or nv_peer_mem before it. Without the folder of modules
/// nothing is known.
fn peermem(root: &Root) -> Reading<bool> {
    const FILES: [&str; 3] = [
        "/sys/module/nvidia_peermem/version",
        "/sys/kernel/mm/memory_peers/nv_mem/version",
        "/sys/kernel/mm/memory_peers/nv_mem_nc/version",
    ];
    if FILES.iter().any(|file| root.exists(file)) {
        return Ok(true);
    }
    if root.exists("/sys/module") { Ok(false) } else { Err(Unreadable::Missing) }
}

/// Kind, size and old files of `/dev/shm`.
pub(super) fn shared_memory(root: &Root, kernel: &dyn Kernel) -> SharedMemory {
    let stale = root.names_in_directory("/dev/shm").map(|names| {
        let old = names.iter().filter(|name| name.starts_with("nccl-"));
        let sizes = old.map(|name| {
            fs::symlink_metadata(root.path_under_root(&format!("/dev/shm/{name}"))).map_or(0, |m| m.len())
        });
        sizes.fold((0, 0_u64), |(files, bytes), size| (files + 1, bytes.saturating_add(size)))
    });
    SharedMemory { filesystem: kernel.filesystem("/dev/shm"), stale }
}
