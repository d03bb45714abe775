//! What is kept of a log: ranks, their communicators and their processes.

use super::shared_names::Name;
use super::split_lines::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Lines that were not used, and facts that were not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Two lines of NCCL in one.
    pub mixed: u64,
    /// Half lines, and known forms that end in another way.
    pub cut: u64,
    /// Lines that were longer than [`super::LONGEST_LINE`]; their first bytes were used.
    pub long: u64,
    /// Facts beyond a limit of processes, CUDA devices, ranks, communicators, splits or names.
    pub beyond_limits: u64,
}

/// How a communicator is distinguished from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The id that all ranks log.
    Id(u64),
    /// A split of another communicator: that one, the split's number, the color.
    Split(usize, u32, i64),
    /// Lines that name no communicator.
    Unnamed,
}

/// A communicator.
#[derive(Debug)]
pub struct Communicator {
    pub(super) key: Key,
    /// Number of ranks, if a line names it.
    pub size: Option<u32>,
    /// Number of nodes, if a line names it.
    pub nodes: Option<u32>,
    /// Whether NVLink connects the nodes.
    pub mnnvl: bool,
    /// First line about it.
    pub first: Place,
    pub(super) ranks: Vec<usize>,
}

/// A rank of a communicator.
#[derive(Debug)]
pub struct Rank {
    /// Number in the communicator.
    pub rank: u32,
    pub(super) process: usize,
    pub(super) communicator: usize,
    pub(super) address: u64,
    pub(super) network: Option<Name>,
    /// Names of the transports in lines of channels, nearly always one.
    pub(super) nets: Vec<Name>,
    /// Ends of channels over the network with GPUDirect, and without.
    pub direct: u32,
    /// See `direct`.
    pub copied: u32,
    /// Network devices of its channels, by number up to 63.
    pub devices: u64,
    /// Ends of channels inside the node.
    pub local: u32,
    /// Channels of collective operations.
    pub channels: Option<u16>,
    /// Whether all connections use GPUDirect, by the line about rings.
    pub rings_direct: Option<bool>,
    /// Whether a connection passes through the NIC of another GPU.
    pub pxn: Option<bool>,
    /// Whether initialisation began, and whether it ended.
    pub began: bool,
    /// See `began`.
    pub complete: bool,
    /// First line about it.
    pub first: Place,
}

/// A process.
#[derive(Debug, Default)]
pub struct Process {
    pub(super) host: Option<Name>,
    pub(super) version: Option<Name>,
    pub(super) devices: Option<Name>,
    pub(super) oob: Option<Name>,
    pub(super) bootstrap: Option<Name>,
    pub(super) plugins: BTreeSet<Name>,
    pub(super) provider: Option<Name>,
    pub(super) settings: BTreeMap<Name, Name>,
    /// Known lines of this process that give a reason for a fallback, by their place in the table.
    pub(super) reasons: u64,
    /// NICs with GPUDirect, and without.
    pub(super) hca_direct: [u32; 2],
}
