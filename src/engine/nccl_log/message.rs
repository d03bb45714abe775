//! Messages of NCCL that tell which transport is used. The forms are those of NVIDIA/nccl 2.18 to 2.30, and of public logs of
//! 2.31 and 2.32; a message of another form is [`Message::Other`], and one that begins like a known form and ends otherwise
//! is [`Message::Cut`].

/// A communicator as a line names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Comm {
    /// Address in the process that wrote the line.
    pub address: u64,
    /// Rank of the writer.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Id that all ranks share; communicators that were split from others have none in 2.23 and newer.
    pub id: Option<u64>,
    /// The communicator that this one was split from: its address, how often it was split, and the color.
    pub split: Option<(u64, Option<u32>, i64)>,
    /// Number of nodes.
    pub nodes: Option<u32>,
    /// Whether NVLink connects the nodes (MNNVL).
    pub mnnvl: bool,
}

/// Way of a channel to its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path<'a> {
    /// Over a network device.
    Net {
        /// Name of the transport: IB, Socket, Libfabric.
        transport: &'a str,
        /// Number of the device.
        device: u16,
        /// Whether the NIC reads and writes GPU memory.
        gpu_direct: bool,
    },
    /// Inside a node, or over NVLink.
    Local,
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    /// `Using network IB`.
    Network(&'a str),
    /// `NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>`.
    Devices {
        /// `[0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE`.
        list: &'a str,
        /// Interface of the out-of-band connections.
        interface: &'a str,
    },
    /// `Bootstrap: Using eth0:10.0.0.1<0>`.
    Bootstrap(&'a str),
    /// `NCCL version 2.27.7+cuda12.9`.
    Version(&'a str),
    /// `comm 0x… rank 0 nranks 16 … - Init START`.
    Start(Comm),
    /// `comm 0x… rank 0 nranks 16 … - Init COMPLETE`.
    Complete(Comm),
    /// `comm 0x… rank 0 nRanks 16 nNodes 2 …`.
    Layout(Comm),
    /// `Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA`.
    Channel {
        /// Rank of the writer.
        rank: u32,
        /// Rank of the other end.
        peer: u32,
        /// The way.
        path: Path<'a>,
    },
    /// `16 coll channels, …`.
    Channels(u16),
    /// `Connected all rings, use ring PXN 0 GDR 1`; nothing after the comma before 2.25.
    Rings {
        /// Whether a connection passes through the NIC of another GPU.
        pxn: Option<bool>,
        /// Whether all connections use GPUDirect.
        gpu_direct: Option<bool>,
    },
    /// `NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'`.
    HcaDirect(bool),
    /// `Loaded net plugin IBext_v8 (v8)`, `Successfully loaded external network plugin …`.
    Plugin(&'a str),
    /// `NET/OFI Selected provider is efa, …`.
    Provider(&'a str),
    /// `NCCL_IB_HCA set to mlx5`, `NCCL_IB_DISABLE set by environment to 1.`.
    Setting(&'a str, &'a str),
    /// A known form that ends too early, or in another way.
    Cut,
    /// Anything else.
    Other,
}

/// Reads a message.
#[must_use]
pub fn parse_message(text: &str) -> Message<'_> {
    if let Some(rest) = text.strip_prefix("Channel ") {
        return parse_channel(rest);
    }
    if let Some(name) = text.strip_prefix("Using network ") {
        return if name.is_empty() { Message::Cut } else { Message::Network(name) };
    }
    if text.contains("comm 0x") {
        return parse_communicator(text);
    }
    if let Some(rest) = text.strip_prefix("NET/") {
        return parse_net(rest);
    }
    if let Some(rest) = text.strip_prefix("Bootstrap") {
        let using = rest.trim_start_matches([' ', ':']).strip_prefix("Using ");
        return using.map_or(Message::Other, |list| Message::Bootstrap(interface(list)));
    }
    if let Some(rest) = text.strip_prefix("Connected all rings") {
        return Message::Rings { pxn: flag(rest, "PXN "), gpu_direct: flag(rest, "GDR ") };
    }
    if let Some(version) = version(text) {
        return Message::Version(version);
    }
    if let Some((number, _)) = text.split_once(" coll channels") {
        return number.parse().map_or(Message::Cut, Message::Channels);
    }
    if let Some(name) = text.strip_prefix("Successfully loaded external network plugin ") {
        return Message::Plugin(name);
    }
    parse_setting(text).unwrap_or(Message::Other)
}

/// The version in a line, which some releases write without a head.
#[must_use]
pub(super) fn version(text: &str) -> Option<&str> {
    let (_, version) = text.split_once("CCL version ")?;
    let version = version.split_ascii_whitespace().next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

/// `NAME set by environment to VALUE.`, `NAME set to VALUE`.
fn parse_setting(text: &str) -> Option<Message<'_>> {
    let (name, value) = text.split_once(" set by environment to ").or_else(|| text.split_once(" set to "))?;
    let is_name = name.starts_with("NCCL_")
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    // Only the form of numbers ends with a full stop.
    let number = value.strip_suffix('.').filter(|v| v.parse::<i64>().is_ok());
    is_name.then_some(Message::Setting(name, number.unwrap_or(value)))
}

/// After `NET/`.
fn parse_net(rest: &str) -> Message<'_> {
    if let Some((_, device)) = rest.split_once("GPU Direct RDMA ") {
        return match device.split(' ').next() {
            Some("Enabled") => Message::HcaDirect(true),
            Some("Disabled") => Message::HcaDirect(false),
            _ => Message::Cut,
        };
    }
    if let Some(plugin) = rest.strip_prefix("Plugin") {
        let loaded = plugin.split_once("Loaded net plugin ").map(|(_, name)| name);
        let name = loaded.map(|name| name.rsplit_once(" (v").map_or(name, |(name, _)| name));
        return name.map_or(Message::Other, Message::Plugin);
    }
    if let Some(ofi) = rest.strip_prefix("OFI ") {
        let selected =
            ofi.strip_prefix("Selected provider is ").or_else(|| ofi.strip_prefix("Selected Provider is "));
        let name = selected.and_then(|s| s.split([',', ' ']).next()).filter(|name| !name.is_empty());
        return name.map_or(Message::Other, Message::Provider);
    }
    let Some((name, list)) = rest.split_once(" : Using ") else { return Message::Other };
    if name == "Socket" {
        return Message::Other;
    }
    let Some((list, oob)) = list.split_once("OOB ") else { return Message::Cut };
    let list = list.trim_end_matches([' ', ';']);
    let list = list.strip_suffix("[RO]").unwrap_or(list).trim();
    Message::Devices { list, interface: interface(oob) }
}

/// `[0]eth0:10.0.0.1<0>`: the first interface.
fn interface(list: &str) -> &str {
    let list = list.trim_start();
    let list = list.strip_prefix('[').and_then(|l| l.split_once(']')).map_or(list, |(_, rest)| rest);
    list.split(':').next().unwrap_or(list)
}

/// A digit after a word.
fn flag(text: &str, word: &str) -> Option<bool> {
    let (_, after) = text.split_once(word)?;
    after.bytes().next().map(|digit| digit != b'0')
}

/// `00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA`; `00 : 0[0] -> 1[1] via SHM/direct/direct`.
fn parse_channel(rest: &str) -> Message<'_> {
    // `Channel 00/16 :    0   1   2 …` is the order of the ranks.
    let Some((ends, path)) = rest.split_once(" via ") else {
        return if rest.contains("->") { Message::Cut } else { Message::Other };
    };
    let parsed = || {
        let (_, ends) = ends.split_once(':')?;
        let (from, to) = ends.split_once("->")?;
        let rank = |text: &str| text.trim().split('[').next()?.parse::<u32>().ok();
        let (from, to_rank) = (rank(from)?, rank(to)?);
        let (rank, peer) = if to.contains("[receive]") { (to_rank, from) } else { (from, to_rank) };
        Some(Message::Channel { rank, peer, path: self::parse_path(path)? })
    };
    parsed().unwrap_or(Message::Cut)
}

/// `NET/IB/0(3)/GDRDMA(PCI)/Shared`, `NET/IB/0/GDRDMA/flush=None`, `COLLNET/SHARP/0/GDRDMA`, `P2P/CUMEM/read`, `SHM/direct/direct`.
fn parse_path(text: &str) -> Option<Path<'_>> {
    let net = text.strip_prefix("NET/").or_else(|| text.strip_prefix("COLLNET/"));
    let Some(net) = net else {
        let local = ["P2P/", "SHM/", "direct shared memory"].iter().any(|kind| text.starts_with(kind));
        return local.then_some(Path::Local);
    };
    // What the receiver flushes: `flush=None`, `flush=Always` (logs of 2.31.2; 2.30.7 does not write it).
    let net = net.rsplit_once("/flush=").map_or(net, |(net, _)| net);
    let net = net.strip_suffix("/Shared").unwrap_or(net);
    let net = net.strip_suffix("(PCI)").unwrap_or(net);
    let (net, gpu_direct) = net.strip_suffix("/GDRDMA").map_or((net, false), |net| (net, true));
    let (transport, device) = net.rsplit_once('/')?;
    let device = device.split('(').next()?.parse().ok()?;
    (!transport.is_empty()).then_some(Path::Net { transport, device, gpu_direct })
}

/// `ncclCommInitRank comm 0x… rank 0 nranks 16 cudaDev 0 … commId 0x… - Init START`.
fn parse_communicator(text: &str) -> Message<'_> {
    let (kind, text): (fn(Comm) -> Message<'static>, &str) =
        if let Some(text) = text.strip_suffix("Init START") {
            (Message::Start, text)
        } else if let Some(text) = text.strip_suffix("Init COMPLETE") {
            (Message::Complete, text)
        } else if text.contains(" nNodes ") && text.starts_with("comm 0x") {
            (Message::Layout, text)
        } else {
            return Message::Other;
        };
    let mut found = Comm::default();
    let (mut parent, mut count, mut color) = (None, None, 0);
    let mut seen = 0;
    let mut words = text.split_ascii_whitespace().skip_while(|word| *word != "comm");
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        // 2.23 to 2.28 write `key 5- Init START`.
        let value = value.trim_end_matches('-');
        let number = || value.parse::<u32>().ok();
        let hex = || u64::from_str_radix(value.trim_start_matches("0x"), 16).ok();
        match name {
            "comm" => seen += usize::from(hex().map(|n| found.address = n).is_some()),
            "rank" => seen += usize::from(number().map(|n| found.rank = n).is_some()),
            "nranks" | "nRanks" => seen += usize::from(number().map(|n| found.size = n).is_some()),
            "nNodes" => found.nodes = number(),
            "MNNVL" => found.mnnvl = value != "0",
            "commId" => found.id = hex(),
            "parent" => parent = hex(),
            "splitCount" => count = number(),
            "color" => color = value.parse().unwrap_or_default(),
            _ => {}
        }
    }
    found.split = parent.map(|parent| (parent, count, color));
    if seen == 3 && found.rank < found.size { kind(found) } else { Message::Cut }
}
