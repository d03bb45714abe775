//! Facts of a log, line by line.
//!
//! NCCL names the communicator in few lines only. All others belong to the communicator of the same process and CUDA
//! device that began last, or, for channels, to the last one where the writer has that rank: from 2.22 on channels are
//! connected at the first operation, so after other communicators have begun.

use super::line_head::{Head, Level, Line, Writer, split_head_from_message};
use super::lines_explain_knows::{self, Counts};
use super::message::{Comm, Message, Path, parse_message, version};
use super::ranks_communicators_processes::{Communicator, Key, Process, Rank, Skipped};
use super::shared_names::{Name, Names};
use super::split_lines::Place;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Processes, ranks of all communicators, and communicators that are kept.
const MAX_PROCESSES: usize = 16_384;
const MAX_RANKS: usize = 65_536;
const MAX_COMMUNICATORS: usize = 8192;
/// CUDA devices of all processes, and communicators that a process splits without the number of the split.
const MAX_SEATS: usize = 65_536;
const MAX_SPLITS: usize = 65_536;
/// Ranks of a CUDA device among which a channel looks for its own: a line must not cost more in a longer log.
const MAX_RECENT_RANKS_SEARCHED: usize = 1024;
/// Different transports of the channels of a rank.
const MAX_TRANSPORTS_OF_RANK: usize = 4;
/// Versions of NCCL in one log.
const MAX_NCCL_VERSIONS: usize = 8;

/// A CUDA device of a process: its ranks, the last one last.
#[derive(Debug, Default)]
pub(super) struct Seat {
    network: Option<Name>,
    ranks: Vec<usize>,
    /// The rank of the last channel.
    active: Option<usize>,
}

/// All facts.
#[derive(Debug, Default)]
pub struct Log {
    pub(super) names: Names,
    pub(super) processes: Vec<Process>,
    pub(super) by_writer: HashMap<(Option<Name>, u32), usize>,
    pub(super) seats: HashMap<(usize, i16), Seat>,
    pub(super) communicators: Vec<Communicator>,
    pub(super) by_key: BTreeMap<Key, usize>,
    pub(super) ranks: Vec<Rank>,
    /// How often a process split a communicator, by the address of it.
    pub(super) splits: HashMap<(usize, u64), u32>,
    /// The last rank with an address, by process, CUDA device and address; and by these and its number. A log has as many
    /// lines about ranks as communicators that began, so a search through all ranks would take hours.
    by_address: HashMap<(usize, i16, u64), usize>,
    by_number: HashMap<(usize, i16, u64, u32), usize>,
    pub(super) versions: BTreeSet<Name>,
    pub(super) known: Counts,
    /// Lines in all, and lines of NCCL.
    pub lines: u64,
    /// See `lines`.
    pub nccl_lines: u64,
    /// What was not used.
    pub skipped: Skipped,
}

/// Settings that explain a transport.
const SETTINGS: [&str; 8] = [
    "NCCL_NET",
    "NCCL_NET_PLUGIN",
    "NCCL_IB_DISABLE",
    "NCCL_IB_HCA",
    "NCCL_SOCKET_IFNAME",
    "NCCL_NET_GDR_LEVEL",
    "NCCL_NET_GDR_READ",
    "NCCL_IB_GID_INDEX",
];

impl Log {
    /// Takes a line, cut by [`super::Lines`].
    pub fn add_line(&mut self, cut: super::split_lines::Cut<'_>, place: Place) {
        self.lines += u64::from(cut.begins_line);
        // What is cut off of any line may be text of NCCL.
        self.skipped.long += u64::from(cut.long);
        if memchr::memmem::find(cut.bytes, b"CCL ").is_none() {
            self.add_ucx_line(&cut, place);
            return;
        }
        let text = String::from_utf8_lossy(cut.bytes);
        let head = match split_head_from_message(&text) {
            Line::Nccl(head) => head,
            Line::Mixed => {
                self.nccl_lines += 1;
                self.skipped.mixed += 1;
                return;
            }
            Line::Other => {
                // Before 2.30 the version stands alone.
                if let Some(version) = version(&text) {
                    self.nccl_lines += 1;
                    self.add_version(version);
                }
                return;
            }
        };
        self.nccl_lines += 1;
        if !cut.ended {
            self.skipped.cut += 1;
            return;
        }
        let process = self.process_of_writer_or_new(head.writer);
        self.add_known_line(&head, process, place);
        let said = parse_message(head.message);
        if said == Message::Cut {
            self.skipped.cut += 1;
        } else if let Some(process) = process {
            self.add_message(process, head.device.unwrap_or(-1), said, place);
        }
    }

    /// A line of UCX, which the plugin of NCCL for UCX writes: `[time] [host:pid:tid] ib_md.c:437 UCX  ERROR ibv_reg_mr(…)`.
    /// It names no rank, so only an error that `explain` knows counts.
    fn add_ucx_line(&mut self, cut: &super::split_lines::Cut<'_>, place: Place) {
        const MARK: &[u8] = b" UCX ";
        let Some(at) = memchr::memmem::find(cut.bytes, MARK) else { return };
        let text = String::from_utf8_lossy(cut.bytes.get(at + MARK.len()..).unwrap_or_default());
        let Some(message) = text.trim_start().strip_prefix("ERROR ").filter(|_| cut.ended) else { return };
        let known = lines_explain_knows::find_known_line(message).filter(|(_, line)| line.from == "UCX");
        if known.is_some() {
            self.known.add(known, Level::Warn, place, message.trim());
        }
    }

    fn process_of_writer_or_new(&mut self, writer: Option<Writer<'_>>) -> Option<usize> {
        let key = match writer {
            Some(writer) => (self.kept_name(writer.host), writer.pid),
            None => (None, 0),
        };
        if let Some(known) = self.by_writer.get(&key) {
            return Some(*known);
        }
        if self.processes.len() == MAX_PROCESSES {
            self.skipped.beyond_limits += 1;
            return None;
        }
        self.processes.push(Process { host: key.0, ..Process::default() });
        self.by_writer.insert(key, self.processes.len() - 1);
        Some(self.processes.len() - 1)
    }

    fn kept_name(&mut self, text: &str) -> Option<Name> {
        let name = self.names.keep_text_once(text);
        self.skipped.beyond_limits += u64::from(name.is_none());
        name
    }

    fn add_version(&mut self, text: &str) -> Option<Name> {
        if self.versions.len() == MAX_NCCL_VERSIONS {
            let known = self.versions.iter().find(|known| self.names.text(**known) == text).copied();
            self.skipped.beyond_limits += u64::from(known.is_none());
            return known;
        }
        let name = self.kept_name(text)?;
        self.versions.insert(name);
        Some(name)
    }

    /// A line that `explain` knows, and warnings that it does not know.
    fn add_known_line(&mut self, head: &Head<'_>, process: Option<usize>, place: Place) {
        // Lines of operations (`AllReduce: opCount …`) are most of a long log, and none of them is known.
        if head.level == Level::Info && head.message.contains(": opCount ") {
            return;
        }
        let known = lines_explain_knows::find_known_line(head.message);
        if let (Some((at, _)), Some(process)) = (known, process.and_then(|at| self.processes.get_mut(at))) {
            process.reasons |= 1_u64.checked_shl(u32::try_from(at).unwrap_or(u32::MAX)).unwrap_or_default();
        }
        if known.is_some() || head.level == Level::Warn {
            self.known.add(known, head.level, place, head.message);
        }
    }

    fn add_message(&mut self, process: usize, device: i16, said: Message<'_>, place: Place) {
        match said {
            Message::Network(name) => {
                let name = self.kept_name(name);
                if let Some(seat) = self.seat_of_device_or_new(process, device) {
                    seat.network = name;
                }
            }
            Message::Start(comm) => {
                self.begin_or_complete_rank(process, device, comm, place, |rank| rank.began = true)
            }
            Message::Complete(comm) => {
                self.begin_or_complete_rank(process, device, comm, place, |rank| rank.complete = true)
            }
            Message::Layout(comm) => self.add_layout_of_communicator(process, device, comm),
            Message::Channel { rank, peer, path } => {
                self.add_channel(process, device, (rank, peer), path, place)
            }
            Message::Channels(number) => {
                self.change_last_rank_of_device(process, device, |rank| rank.channels = Some(number))
            }
            Message::Rings { pxn, gpu_direct } => {
                let seat = self.seats.get(&(process, device));
                let at = seat.and_then(|seat| seat.active.or(seat.ranks.last().copied()));
                if let Some(rank) = at.and_then(|at| self.ranks.get_mut(at)) {
                    (rank.pxn, rank.rings_direct) = (pxn, gpu_direct);
                }
            }
            other => self.set_fact_of_process(process, other),
        }
    }

    fn set_fact_of_process(&mut self, at: usize, said: Message<'_>) {
        let name = match said {
            Message::Devices { list, interface } => {
                let oob = self.kept_name(interface);
                if let Some(process) = self.processes.get_mut(at) {
                    process.oob = oob;
                }
                self.kept_name(list)
            }
            Message::Bootstrap(text) | Message::Plugin(text) | Message::Provider(text) => {
                self.kept_name(text)
            }
            Message::Version(text) => self.add_version(text),
            Message::Setting(name, value) if SETTINGS.contains(&name) => {
                let (name, value) = (self.kept_name(name), self.kept_name(value));
                if let (Some(name), Some(value), Some(process)) = (name, value, self.processes.get_mut(at)) {
                    process.settings.insert(name, value);
                }
                return;
            }
            Message::HcaDirect(enabled) => {
                if let Some(count) =
                    self.processes.get_mut(at).and_then(|p| p.hca_direct.get_mut(usize::from(!enabled)))
                {
                    *count += 1;
                }
                return;
            }
            _ => return,
        };
        let Some(process) = self.processes.get_mut(at) else { return };
        match said {
            Message::Devices { .. } => process.devices = name,
            Message::Bootstrap(_) => process.bootstrap = name,
            Message::Provider(_) => process.provider = name,
            Message::Version(_) => process.version = name,
            Message::Plugin(_) if process.plugins.len() < 8 => process.plugins.extend(name),
            _ => {}
        }
    }

    /// The communicator of a line, made if it is new.
    fn communicator_of_line_or_new(
        &mut self,
        process: usize,
        device: i16,
        comm: &Comm,
        place: Place,
    ) -> Option<usize> {
        let key = match (comm.id, comm.split) {
            (Some(id), _) => Key::Id(id),
            (None, Some((parent, number, color))) => {
                let parent_rank = self.by_address.get(&(process, device, parent));
                let parent_at =
                    parent_rank.and_then(|at| self.ranks.get(*at)).map_or(usize::MAX, |r| r.communicator);
                let number =
                    number.or_else(|| self.splits.get(&(process, parent)).copied()).unwrap_or_default();
                Key::Split(parent_at, number, color)
            }
            (None, None) => Key::Unnamed,
        };
        if let Some(known) = self.by_key.get(&key) {
            return Some(*known);
        }
        if self.communicators.len() == MAX_COMMUNICATORS {
            self.skipped.beyond_limits += 1;
            return None;
        }
        let size = (comm.size > 0).then_some(comm.size);
        self.communicators.push(Communicator {
            key,
            size,
            nodes: None,
            mnnvl: false,
            first: place,
            ranks: Vec::new(),
        });
        self.by_key.insert(key, self.communicators.len() - 1);
        Some(self.communicators.len() - 1)
    }

    fn begin_or_complete_rank(
        &mut self,
        process: usize,
        device: i16,
        comm: Comm,
        place: Place,
        set: impl FnOnce(&mut Rank),
    ) {
        // The line of the end belongs to the line of the start: same process, same address, same rank.
        let open = |at: &usize| self.ranks.get(*at).is_some_and(|r| !r.complete);
        let key = (process, device, comm.address, comm.rank);
        let mut at = self.by_number.get(&key).copied().filter(open);
        if at.is_none() {
            if let (None, Some((parent, None, _))) = (comm.id, comm.split) {
                self.count_split(process, parent);
            }
            let communicator = self.communicator_of_line_or_new(process, device, &comm, place);
            at = communicator.and_then(|c| self.add_rank(process, device, c, comm.rank, place));
        }
        let Some(at) = at else { return };
        self.by_number.insert(key, at);
        self.by_address.insert((process, device, comm.address), at);
        if let Some(rank) = self.ranks.get_mut(at) {
            rank.address = comm.address;
            set(rank);
        }
    }

    /// Counts a split of a communicator, whose address is `parent`.
    fn count_split(&mut self, process: usize, parent: u64) {
        let is_full = self.splits.len() >= MAX_SPLITS;
        match self.splits.entry((process, parent)) {
            Entry::Vacant(_) if is_full => self.skipped.beyond_limits += 1,
            entry => *entry.or_default() += 1,
        }
    }

    /// A CUDA device of a process; `None` beyond the limit.
    fn seat_of_device_or_new(&mut self, process: usize, device: i16) -> Option<&mut Seat> {
        let is_full = self.seats.len() >= MAX_SEATS;
        match self.seats.entry((process, device)) {
            Entry::Vacant(_) if is_full => {
                self.skipped.beyond_limits += 1;
                None
            }
            entry => Some(entry.or_default()),
        }
    }

    /// A new rank of a communicator.
    fn add_rank(
        &mut self,
        process: usize,
        device: i16,
        communicator: usize,
        rank: u32,
        place: Place,
    ) -> Option<usize> {
        if self.ranks.len() == MAX_RANKS {
            self.skipped.beyond_limits += 1;
            return None;
        }
        let at = self.ranks.len();
        let seat = self.seat_of_device_or_new(process, device)?;
        seat.ranks.push(at);
        let network = seat.network;
        self.ranks.push(Rank {
            rank,
            process,
            communicator,
            address: 0,
            network,
            nets: Vec::new(),
            direct: 0,
            copied: 0,
            devices: 0,
            local: 0,
            channels: None,
            rings_direct: None,
            pxn: None,
            began: false,
            complete: false,
            first: place,
        });
        self.communicators.get_mut(communicator)?.ranks.push(at);
        Some(at)
    }

    fn add_layout_of_communicator(&mut self, process: usize, device: i16, comm: Comm) {
        let rank = self.by_address.get(&(process, device, comm.address)).and_then(|at| self.ranks.get(*at));
        if let Some(communicator) = rank.and_then(|rank| self.communicators.get_mut(rank.communicator)) {
            communicator.nodes = comm.nodes;
            communicator.mnnvl |= comm.mnnvl;
        }
    }

    fn add_channel(
        &mut self,
        process: usize,
        device: i16,
        (rank, peer): (u32, u32),
        path: Path<'_>,
        place: Place,
    ) {
        let fits = |at: &&usize| {
            self.ranks.get(**at).is_some_and(|r| {
                let size = self.communicators.get(r.communicator).and_then(|c| c.size);
                r.rank == rank && size.is_none_or(|size| peer < size)
            })
        };
        let seat = self.seats.get(&(process, device));
        let mut at =
            seat.and_then(|seat| seat.ranks.iter().rev().take(MAX_RECENT_RANKS_SEARCHED).find(fits).copied());
        if at.is_none() {
            let unnamed = self.communicator_of_line_or_new(process, device, &Comm::default(), place);
            at = unnamed.and_then(|c| self.add_rank(process, device, c, rank, place));
        }
        let Some(at) = at else { return };
        if let Some(seat) = self.seats.get_mut(&(process, device)) {
            seat.active = Some(at);
        }
        let net = match path {
            Path::Net { transport, .. } => self.kept_name(transport),
            Path::Local => None,
        };
        let Some(rank) = self.ranks.get_mut(at) else { return };
        match path {
            Path::Local => rank.local = rank.local.saturating_add(1),
            Path::Net { device, gpu_direct, .. } => {
                match net {
                    Some(net) if rank.nets.contains(&net) => {}
                    Some(net) if rank.nets.len() < MAX_TRANSPORTS_OF_RANK => rank.nets.push(net),
                    Some(_) => self.skipped.beyond_limits += 1,
                    // Counted where the name was not kept.
                    None => {}
                }
                let ends = if gpu_direct { &mut rank.direct } else { &mut rank.copied };
                *ends = ends.saturating_add(1);
                rank.devices |= 1_u64.checked_shl(u32::from(device)).unwrap_or_default();
            }
        }
    }

    fn change_last_rank_of_device(&mut self, process: usize, device: i16, set: impl FnOnce(&mut Rank)) {
        let last = self.seats.get(&(process, device)).and_then(|seat| seat.ranks.last().copied());
        if let Some(rank) = last.and_then(|at| self.ranks.get_mut(at)) {
            set(rank);
        }
    }
}
