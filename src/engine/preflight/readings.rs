//! What was read in the pod. Every reading is a value, or the reason why there is none. The shell fills this in
//! (`pod_agent`), and the checks judge it.

use super::expectation_document::Expectation;
use crate::nccl::NcclVersion;
use crate::rdma::Reading;
use crate::rdma::gid::{Gid, GidType};
use crate::rdma::interface_addresses::Address;
use crate::rdma::netlink::NamespaceMode;
use crate::rdma::port::{LinkLayer, PhysicalState, Rate, State};
use crate::rdma::process_limits::Memlock;
use std::collections::BTreeMap;

/// All readings of one run.
#[derive(Debug, Clone)]
pub struct Readings {
    /// What the profile expects; `None` where nothing was given.
    pub expectation: Result<Option<Expectation>, String>,
    /// Devices in `/sys/class/infiniband`, sorted by name.
    pub devices: Reading<Vec<Device>>,
    /// Entries of `/sys/class/infiniband_verbs`.
    pub nodes: Reading<Vec<VerbsNode>>,
    /// Files `uverbsN` in `/dev/infiniband`.
    pub device_files: Reading<Vec<String>>,
    /// Interfaces of the network namespace.
    pub interfaces: Reading<Vec<Interface>>,
    /// Addresses of the interfaces.
    pub addresses: Reading<Vec<Address>>,
    /// Whether RDMA devices belong to network namespaces.
    pub namespace_mode: Reading<NamespaceMode>,
    /// Limits of the process.
    pub limits: Limits,
    /// `/dev/shm`.
    pub shm: SharedMemory,
    /// GPUs and their driver.
    pub gpu: Gpu,
    /// Libraries in the image.
    pub image: Image,
    /// Environment variables of NCCL, verbs and libfabric, and the search path of libraries.
    pub environment: Reading<BTreeMap<String, String>>,
    /// Variables of the file that `NCCL_CONF_FILE` names, else of `.nccl.conf` in the home directory.
    pub user_conf: Reading<BTreeMap<String, String>>,
    /// Variables of `/etc/nccl.conf` in the image.
    pub image_conf: Reading<BTreeMap<String, String>>,
    /// The file that `NCCL_TOPO_FILE` names: its size (bytes).
    pub topology: Option<Reading<u64>>,
    /// Peers, and whether a connection was possible.
    pub peers: Vec<(String, Reading<()>)>,
}

impl Readings {
    /// The value of a variable that the user sets, and where. NCCL reads the environment first, then the file of the user.
    pub(super) fn set_by_user(&self, name: &str) -> Option<(&str, &'static str)> {
        let environment = self.environment.as_ref().ok().and_then(|set| set.get(name));
        let file = || self.user_conf.as_ref().ok().and_then(|set| set.get(name));
        environment
            .map(|value| (value.as_str(), "the environment"))
            .or_else(|| file().map(|value| (value.as_str(), USER_CONF)))
    }
}

/// The user's file of settings, in a sentence.
pub(super) const USER_CONF: &str = "NCCL_CONF_FILE or .nccl.conf";

/// An RDMA device.
#[derive(Debug, Clone)]
pub struct Device {
    /// Its name, such as `mlx5_0`.
    pub name: String,
    /// Path of its PCI device, such as `/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0`.
    pub pci_path: Reading<String>,
    /// Its driver, such as `mlx5_core`.
    pub driver: Reading<String>,
    /// Whether it is a virtual function.
    pub is_virtual: bool,
    /// Its ports.
    pub ports: Reading<Vec<Port>>,
}

/// A port of a device.
#[derive(Debug, Clone)]
pub struct Port {
    /// Number, from 1.
    pub number: u32,
    /// Logical state.
    pub state: Reading<State>,
    /// Physical state.
    pub physical_state: Reading<PhysicalState>,
    /// Rate.
    pub rate: Reading<Rate>,
    /// Link layer.
    pub link_layer: Reading<LinkLayer>,
    /// Local identifier (InfiniBand).
    pub lid: Reading<u16>,
    /// Local identifier of the Subnet Manager (InfiniBand).
    pub sm_lid: Reading<u16>,
    /// Partition keys with their row, of InfiniBand ports only.
    pub pkeys: Reading<Vec<(u32, Reading<u16>)>>,
    /// GID rows of usable devices, and row 0 of other InfiniBand ports. Empty rows are left out, unless they come before one
    /// that is not empty.
    pub gids: Reading<Vec<GidRow>>,
}

/// A row of a GID table.
#[derive(Debug, Clone)]
pub struct GidRow {
    /// Row, from 0.
    pub index: u32,
    /// The GID.
    pub gid: Reading<Gid>,
    /// RoCE version.
    pub kind: Reading<GidType>,
    /// Interface.
    pub interface: Reading<String>,
}

/// An entry of `/sys/class/infiniband_verbs`.
#[derive(Debug, Clone)]
pub struct VerbsNode {
    /// Its name, such as `uverbs0`.
    pub name: String,
    /// The RDMA device.
    pub device: Reading<String>,
    /// Whether `/dev/infiniband/<name>` can be opened.
    pub opens: Reading<()>,
}

/// An interface of the network namespace.
#[derive(Debug, Clone)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Kind by number (linux `include/uapi/linux/if_arp.h`): 1 Ethernet, 32 InfiniBand.
    pub kind: Reading<u64>,
    /// MTU (bytes).
    pub mtu: Reading<u64>,
    /// `operstate`: `up`, `down`, `unknown`, …
    pub operstate: Reading<String>,
    /// Hardware address.
    pub hardware_address: Reading<String>,
    /// RDMA devices of the same PCI function. Children, such as macvlan and IPoIB interfaces, have no PCI function.
    pub devices: Reading<Vec<String>>,
}

/// Limits of the process.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Soft limit of locked memory.
    pub memlock: Reading<Memlock>,
    /// Whether the effective capabilities have `CAP_IPC_LOCK`.
    pub ipc_lock: Reading<bool>,
    /// Whether the process is in the initial user namespace.
    pub initial_user_namespace: Reading<bool>,
}

/// `/dev/shm`.
#[derive(Debug, Clone)]
pub struct SharedMemory {
    /// The file system.
    pub filesystem: Reading<Filesystem>,
    /// Files named `nccl-*`: how many, and their size (bytes).
    pub stale: Reading<(usize, u64)>,
}

/// Magic number of tmpfs (linux `include/uapi/linux/magic.h`).
pub const TMPFS: i64 = 0x0102_1994;

/// A file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filesystem {
    /// Magic number of its kind; tmpfs is 0x01021994.
    pub kind: i64,
    /// Size (bytes).
    pub size: u64,
    /// Free for this user (bytes).
    pub free: u64,
}

/// GPUs and their driver.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// GPUs of the pod: number of the device file, and PCI address where known.
    pub devices: Reading<Vec<(u32, Reading<String>)>>,
    /// Real path of each PCI address in sysfs.
    pub pci_paths: BTreeMap<String, Reading<String>>,
    /// Text of `/proc/driver/nvidia/version`.
    pub driver: Reading<String>,
    /// Whether the node has nvidia_peermem, or the older module with the same purpose.
    pub peermem: Reading<bool>,
}

/// Libraries in the image.
#[derive(Debug, Clone)]
pub struct Image {
    /// libibverbs.
    pub verbs: Reading<Library>,
    /// Number in `libibverbs` that the names of its providers end with (`-rdmav59.so`).
    pub private_abi: Reading<u32>,
    /// Providers by the name of their driver, such as `mlx5`.
    pub providers: BTreeMap<String, Reading<Library>>,
    /// Providers of other releases of libibverbs, by path.
    pub other_providers: Vec<String>,
    /// The folder in which libibverbs looks for the names of its providers.
    pub driver_folder: String,
    /// Providers that libibverbs loads: `driver NAME` in the files of this folder.
    pub drivers: Reading<Vec<String>>,
    /// Plugins of NCCL for the network by file name.
    pub plugins: BTreeMap<String, Reading<Library>>,
    /// Version of NCCL and where it was found.
    pub nccl: Reading<(NcclVersion, String)>,
}

/// A shared library.
#[derive(Debug, Clone)]
pub struct Library {
    /// Its path.
    pub path: String,
    /// Libraries that it needs and that are not in the image.
    pub missing: Vec<String>,
    /// Whether it was built for this architecture.
    pub fits: bool,
}
