//! The result as JSON, `fabric-admission.dev/verify-log/v1`. Fields are only ever added; unknown values are `null`, never
//! absent.

use crate::nccl_log::{Communicator, Finding, Level, Log, Rank, Transport, judge, numbers, transport};
use crate::report::Unread;
use crate::rules::Severity;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Name and version of the format.
pub const SCHEMA: &str = "fabric-admission.dev/verify-log/v1";

/// The whole document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Always `fabric-admission.dev/verify-log/v1`.
    pub schema: &'static str,
    /// Version of fabric-admission.
    pub tool_version: String,
    /// `pass`, `fail`, or `unknown` if the log does not show a use of the network.
    pub result: &'static str,
    /// Counts.
    pub summary: Summary,
    /// Lines and facts that were not used.
    pub skipped: SkippedEntry,
    /// Communicators, in the order of their first lines.
    pub communicators: Vec<CommunicatorEntry>,
    /// Findings, the worst first.
    pub findings: Vec<FindingEntry>,
    /// Errors of unreadable inputs.
    pub errors: Vec<Unread>,
}

/// Counts.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Lines of all inputs.
    pub lines: u64,
    /// Lines of NCCL.
    pub nccl_lines: u64,
    /// Communicators.
    pub communicators: usize,
    /// Ranks of all communicators.
    pub ranks: usize,
    /// Findings of severity `error`.
    pub errors: usize,
    /// Findings of severity `warning`.
    pub warnings: usize,
}

/// Lines and facts that were not used.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedEntry {
    /// Lines with text of two processes.
    pub mixed: u64,
    /// Half lines.
    pub cut: u64,
    /// Lines of NCCL of more than 4096 bytes, whose first bytes were used.
    pub long: u64,
    /// Facts beyond the limits of processes, ranks, communicators and names.
    pub beyond_limits: u64,
}

/// A communicator.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommunicatorEntry {
    /// Id in the log, or how it was split from another one.
    pub id: String,
    /// Number of ranks; null if no line names it.
    pub size: Option<u32>,
    /// Number of nodes as NCCL counts them; null before 2.20.
    pub nodes: Option<u32>,
    /// Whether NVLink connects the nodes.
    pub mnnvl: bool,
    /// Whether it sends over the network.
    pub crosses_network: bool,
    /// Host names, in the order of the ranks; the first 1024.
    pub hosts: Vec<String>,
    /// Ranks with equal facts.
    pub groups: Vec<Group>,
}

/// Ranks with equal facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// Ranks, such as `0-7, 9`.
    pub ranks: String,
    /// Number of ranks.
    pub count: usize,
    /// Name of the transport, such as `IB`; null if no line names it.
    pub network: Option<String>,
    /// `rdma`, `cloud` (a cloud's own fabric, such as EFA), `tcp` or `unknown`.
    pub transport: &'static str,
    /// Network plugins that were loaded.
    pub plugins: Vec<String>,
    /// Provider of libfabric.
    pub provider: Option<String>,
    /// Connections over the network with GPUDirect RDMA: `all`, `some` or `none`; null if not known.
    pub gpu_direct: Option<&'static str>,
    /// Channels of collective operations.
    pub channels: Option<u16>,
    /// NICs as NCCL lists them.
    pub nics: Vec<Nic>,
    /// Number of network devices that the channels of these ranks use; null without lines of channels.
    pub nics_used: Option<u32>,
    /// Ends of channels.
    pub channel_ends: ChannelEnds,
    /// Interface of the bootstrap.
    pub bootstrap: Option<String>,
    /// Version of NCCL.
    pub version: Option<String>,
    /// Whether a connection passes through the NIC of another GPU (PXN).
    pub pxn: Option<bool>,
    /// Whether the log has the end of the initialisation.
    pub complete: bool,
}

/// A NIC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Nic {
    /// RDMA device.
    pub name: String,
    /// Link layer: `IB` or `RoCE`.
    pub link: String,
}

/// Ends of channels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelEnds {
    /// Over the network with GPUDirect RDMA.
    pub gpu_direct: u64,
    /// Over the network through host memory.
    pub copied: u64,
    /// Inside the node, or over NVLink.
    pub local: u64,
}

/// A finding.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingEntry {
    /// Kind, by the names of docs/verify-log.md.
    pub kind: &'static str,
    /// `error`, `warning` or `info`.
    pub severity: Severity,
    /// Id of the communicator; null for findings about lines.
    pub communicator: Option<String>,
    /// What is wrong, and why.
    pub message: String,
    /// What to do.
    pub fix: String,
    /// Input with the first line about it.
    pub file: Option<String>,
    /// Line in it, from 1.
    pub line: Option<u64>,
    /// Rules that find the cause in manifests.
    pub rules: Vec<&'static str>,
    /// Text for `fabric-admission explain`.
    pub explain: Option<String>,
}

/// Hosts of a communicator that are listed.
const MAX_HOSTS: usize = 1024;

impl Document {
    /// Judges a log. `files` are the names of the inputs.
    #[must_use]
    pub fn new(log: &Log, files: &[String], expected: &[String], errors: Vec<Unread>) -> Self {
        let found = judge(log, expected);
        let unknown = found.iter().any(|f| f.kind.is_unknown());
        let failed = found.iter().any(|f| f.kind.level() == Level::Error && !f.kind.is_unknown());
        let findings: Vec<FindingEntry> = found.into_iter().map(|f| finding(log, files, f)).collect();
        let of = |severity| findings.iter().filter(|f| f.severity == severity).count();
        let communicators: Vec<CommunicatorEntry> =
            log.communicators().iter().map(|c| communicator(log, c)).collect();
        let skipped = log.skipped;
        Self {
            schema: SCHEMA,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            result: match (failed, unknown) {
                (true, _) => "fail",
                (false, true) => "unknown",
                (false, false) => "pass",
            },
            summary: Summary {
                lines: log.lines,
                nccl_lines: log.nccl_lines,
                communicators: communicators.len(),
                ranks: communicators.iter().flat_map(|c| &c.groups).map(|group| group.count).sum(),
                errors: of(Severity::Error),
                warnings: of(Severity::Warning),
            },
            skipped: SkippedEntry {
                mixed: skipped.mixed,
                cut: skipped.cut,
                long: skipped.long,
                beyond_limits: skipped.beyond_limits,
            },
            communicators,
            findings,
            errors,
        }
    }

    /// The most severe finding.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }
}

fn finding(log: &Log, files: &[String], finding: Finding) -> FindingEntry {
    let at = finding.communicator.and_then(|at| log.communicators().get(at));
    FindingEntry {
        kind: finding.kind.name(),
        severity: match finding.kind.level() {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Info => Severity::Info,
        },
        communicator: at.map(|c| log.shown(c)),
        message: finding.message,
        fix: finding.fix,
        file: finding.place.and_then(|place| files.get(place.input).cloned()),
        line: finding.place.map(|place| place.line),
        rules: finding.rules.to_vec(),
        explain: finding.explain,
    }
}

fn communicator(log: &Log, communicator: &Communicator) -> CommunicatorEntry {
    let hosts: Vec<String> = log.hosts(communicator).into_iter().take(MAX_HOSTS).map(str::to_owned).collect();
    CommunicatorEntry {
        id: log.shown(communicator),
        size: communicator.size,
        nodes: communicator.nodes,
        mnnvl: communicator.mnnvl,
        crosses_network: log.crosses(communicator),
        hosts,
        groups: groups(log, &log.ranks(communicator)),
    }
}

fn groups(log: &Log, ranks: &[&Rank]) -> Vec<Group> {
    // The facts, with the ranks that have them and the devices of their channels.
    let mut groups: Vec<(Group, BTreeSet<u32>, u64)> = Vec::new();
    // The place of each group, by its facts as text: a log may have thousands of groups with long lists of NICs.
    let mut places: HashMap<String, usize> = HashMap::new();
    for rank in ranks {
        let facts = facts(log, rank);
        let place = *places.entry(format!("{facts:?}")).or_insert(groups.len());
        if place == groups.len() {
            groups.push((facts, BTreeSet::new(), 0));
        }
        let Some((group, numbers, devices)) = groups.get_mut(place) else { continue };
        numbers.insert(rank.rank);
        *devices |= rank.devices;
        group.count += 1;
        group.channel_ends.gpu_direct += u64::from(rank.direct);
        group.channel_ends.copied += u64::from(rank.copied);
        group.channel_ends.local += u64::from(rank.local);
    }
    let whole = |(group, ranks, devices): (Group, BTreeSet<u32>, u64)| Group {
        ranks: numbers(ranks),
        nics_used: (devices != 0).then(|| devices.count_ones()),
        ..group
    };
    groups.into_iter().map(whole).collect()
}

fn facts(log: &Log, rank: &Rank) -> Group {
    let network = log.network_of(rank);
    let own = |text: Option<&str>| text.map(str::to_owned);
    let nic = |(name, link): (&str, &str)| Nic { name: name.to_owned(), link: link.to_owned() };
    Group {
        ranks: String::new(),
        count: 0,
        network: own(network),
        transport: match network.map(transport) {
            Some(Transport::Rdma) => "rdma",
            Some(Transport::Cloud) => "cloud",
            Some(Transport::Tcp) => "tcp",
            Some(Transport::Unknown) | None => "unknown",
        },
        plugins: log.plugins_of(rank).into_iter().map(str::to_owned).collect(),
        provider: own(log.provider_of(rank)),
        gpu_direct: log.direct(rank).map(|direct| direct.name()),
        channels: rank.channels,
        nics: log.nics(rank).into_iter().map(nic).collect(),
        nics_used: None,
        channel_ends: ChannelEnds::default(),
        bootstrap: own(log.bootstrap_of(rank)),
        version: own(log.version_of(rank)),
        pxn: rank.pxn,
        complete: rank.complete,
    }
}
