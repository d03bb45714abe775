//! The result as JSON, `fabric-admission.dev/verify-log/v1`. Fields are only ever added; unknown values are `null`, never
//! absent.

use crate::nccl_log::{
    Communicator, Finding, Level, Log, Rank, Transport, findings_of_log, nics_of_list, number_ranges,
    transport,
};
use crate::report::UnreadInput;
use crate::rules::Severity;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::{BTreeSet, HashMap};

/// Name and version of the format.
pub const SCHEMA: &str = "fabric-admission.dev/verify-log/v1";

// It borrows the texts of the log: a log of 2 MB may have 65,536 groups with long lists of NICs.
/// The whole document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Document")]
pub struct VerifyLogDocument<'a> {
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
    pub communicators: Vec<CommunicatorEntry<'a>>,
    /// Findings, the worst first.
    pub findings: Vec<FindingEntry>,
    /// Errors of unreadable inputs.
    pub errors: Vec<UnreadInput>,
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
pub struct CommunicatorEntry<'a> {
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
    pub hosts: Vec<&'a str>,
    /// Ranks with equal facts; the first 4096 groups of all communicators.
    pub groups: Vec<RanksWithEqualFacts<'a>>,
    /// Number of groups that are not listed.
    pub more_groups: usize,
}

/// Ranks with equal facts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Group")]
pub struct RanksWithEqualFacts<'a> {
    /// Ranks, such as `0-7, 9`.
    pub ranks: String,
    /// Number of ranks.
    pub count: usize,
    /// Name of the transport, such as `IB`; null if no line names it.
    pub network: Option<&'a str>,
    /// `rdma`, `cloud` (a cloud's own fabric, such as EFA), `tcp` or `unknown`.
    pub transport: &'static str,
    /// Network plugins that were loaded.
    pub plugins: Vec<&'a str>,
    /// Provider of libfabric.
    pub provider: Option<&'a str>,
    /// Connections over the network with GPUDirect RDMA: `all`, `some` or `none`; null if not known.
    pub gpu_direct: Option<&'static str>,
    /// Channels of collective operations.
    pub channels: Option<u16>,
    /// NICs as NCCL lists them.
    #[schemars(with = "Vec<Nic<'_>>")]
    pub nics: Nics<'a>,
    /// Number of network devices that the channels of these ranks use; null without lines of channels.
    pub nics_used: Option<u32>,
    /// Ends of channels.
    pub channel_ends: ChannelEnds,
    /// Interface of the bootstrap.
    pub bootstrap: Option<&'a str>,
    /// Version of NCCL.
    pub version: Option<&'a str>,
    /// Whether a connection passes through the NIC of another GPU (PXN).
    pub pxn: Option<bool>,
    /// Whether the log has the end of the initialisation.
    pub complete: bool,
}

impl RanksWithEqualFacts<'_> {
    /// Length of its texts in the log (bytes).
    fn text_length(&self) -> usize {
        let names = [self.network, self.provider, self.bootstrap, self.version];
        let texts = names.into_iter().flatten().chain(self.plugins.iter().copied());
        self.ranks.len() + self.nics.0.len() + texts.map(str::len).sum::<usize>()
    }
}

/// NICs, as NCCL's text: it is read when the NICs are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Nics<'a>(&'a str);

impl<'a> Nics<'a> {
    /// The NICs, in NCCL's order.
    pub fn iter(self) -> impl Iterator<Item = Nic<'a>> {
        nics_of_list(self.0).map(|(name, link)| Nic { name, link })
    }
}

impl Serialize for Nics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// A NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Nic<'a> {
    /// RDMA device.
    pub name: &'a str,
    /// Link layer: `IB` or `RoCE`.
    pub link: &'a str,
}

/// Ends of channels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
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

/// Groups that are listed: each repeats the NICs of its process, so the document would be a hundred times as long as the log.
const MAX_GROUPS: usize = 4096;
/// Text of the groups that are listed, as the log has it (bytes): the document is up to twelve times as long.
const MAX_TEXT_OF_GROUPS: usize = 4 << 20;
/// Hosts of a communicator that are listed.
const MAX_HOSTS: usize = 1024;

impl<'a> VerifyLogDocument<'a> {
    /// Judges a log. `files` are the names of the inputs.
    #[must_use]
    pub fn judge_log_and_group_ranks(
        log: &'a Log,
        files: &[String],
        expected: &[String],
        errors: Vec<UnreadInput>,
    ) -> Self {
        let found = findings_of_log(log, expected);
        let unknown = found.iter().any(|f| f.kind.is_unknown());
        let failed = found.iter().any(|f| f.kind.level() == Level::Error && !f.kind.is_unknown());
        let findings: Vec<FindingEntry> = found.into_iter().map(|f| finding(log, files, f)).collect();
        let of = |severity| findings.iter().filter(|f| f.severity == severity).count();
        let mut room = RoomForGroups { groups: MAX_GROUPS, text: MAX_TEXT_OF_GROUPS };
        let communicators: Vec<CommunicatorEntry<'_>> =
            log.communicators().iter().map(|c| communicator_entry_within_room(log, c, &mut room)).collect();
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
                ranks: log.communicators().iter().map(|c| log.ranks(c).len()).sum(),
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
    pub fn worst_severity(&self) -> Option<Severity> {
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
        communicator: at.map(|c| log.communicator_in_words(c)),
        message: finding.message,
        fix: finding.fix,
        file: finding.place.and_then(|place| files.get(place.input).cloned()),
        line: finding.place.map(|place| place.line),
        rules: finding.rules.to_vec(),
        explain: finding.explain,
    }
}

/// What may still be listed.
struct RoomForGroups {
    /// Groups (count).
    groups: usize,
    /// Their text (bytes).
    text: usize,
}

impl RoomForGroups {
    /// Takes the room of a group; not if less is left.
    fn take(&mut self, group: &RanksWithEqualFacts<'_>) -> bool {
        let left = self.groups.checked_sub(1).zip(self.text.checked_sub(group.text_length()));
        let Some((groups, text)) = left else { return false };
        *self = Self { groups, text };
        true
    }
}

fn communicator_entry_within_room<'a>(
    log: &'a Log,
    communicator: &Communicator,
    room: &mut RoomForGroups,
) -> CommunicatorEntry<'a> {
    let hosts = log.hosts(communicator).into_iter().take(MAX_HOSTS).collect();
    let mut groups = groups(log, &log.ranks(communicator));
    let listed = groups.iter().take_while(|group| room.take(group)).count();
    let more_groups = groups.len() - listed;
    groups.truncate(listed);
    CommunicatorEntry {
        id: log.communicator_in_words(communicator),
        size: communicator.size,
        nodes: communicator.nodes,
        mnnvl: communicator.mnnvl,
        crosses_network: log.does_use_network(communicator),
        hosts,
        groups,
        more_groups,
    }
}

fn groups<'a>(log: &'a Log, ranks: &[&Rank]) -> Vec<RanksWithEqualFacts<'a>> {
    // The facts, with the ranks that have them and the devices of their channels.
    let mut groups: Vec<(RanksWithEqualFacts<'_>, BTreeSet<u32>, u64)> = Vec::new();
    // The place of each group, by its facts: a log may have thousands of groups.
    let mut places: HashMap<RanksWithEqualFacts<'_>, usize> = HashMap::new();
    for rank in ranks {
        let facts = facts_of_rank(log, rank);
        let place = *places.entry(facts.clone()).or_insert(groups.len());
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
    let whole =
        |(group, ranks, devices): (RanksWithEqualFacts<'a>, BTreeSet<u32>, u64)| RanksWithEqualFacts {
            ranks: number_ranges(ranks),
            nics_used: (devices != 0).then(|| devices.count_ones()),
            ..group
        };
    groups.into_iter().map(whole).collect()
}

fn facts_of_rank<'a>(log: &'a Log, rank: &Rank) -> RanksWithEqualFacts<'a> {
    let network = log.network_of(rank);
    RanksWithEqualFacts {
        ranks: String::new(),
        count: 0,
        network,
        transport: match network.map(transport) {
            Some(Transport::Rdma) => "rdma",
            Some(Transport::Cloud) => "cloud",
            Some(Transport::Tcp) => "tcp",
            Some(Transport::Unknown) | None => "unknown",
        },
        plugins: log.plugins_of(rank),
        provider: log.provider_of(rank),
        gpu_direct: log.gpudirect_use_of_rank(rank).map(|direct| direct.name()),
        channels: rank.channels,
        nics: Nics(log.devices_of(rank).unwrap_or_default()),
        nics_used: None,
        channel_ends: ChannelEnds::default(),
        bootstrap: log.bootstrap_of(rank),
        version: log.version_of(rank),
        pxn: rank.pxn,
        complete: rank.complete,
    }
}
