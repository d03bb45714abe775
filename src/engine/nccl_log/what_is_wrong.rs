//! What is wrong in a log.

use super::finding_kinds::Kind;
use super::gpudirect_and_network_use::{Direct, nics_of_list, number_ranges};
use super::log_facts::Log;
use super::ranks_communicators_processes::{Communicator, Rank};
use super::split_lines::Place;
use super::transport_names::{Transport, transport};
use super::why_not_rdma::Reason;
use crate::known_lines::Meaning;
use crate::text::{count_with_noun, escaped_and_cut};
use std::collections::{BTreeMap, BTreeSet};

/// Something wrong.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Kind.
    pub kind: Kind,
    /// Place of the communicator in [`Log::communicators`].
    pub communicator: Option<usize>,
    /// What is wrong, and why.
    pub message: String,
    /// What to do.
    pub fix: String,
    /// First line about it.
    pub place: Option<Place>,
    /// Rules that find the cause in manifests.
    pub rules: &'static [&'static str],
    /// What `explain` takes to say more.
    pub explain: Option<String>,
}

/// Findings of communicators that are kept, the worst ones; more are those of a log with thousands of communicators.
const MAX_FINDINGS: usize = 1000;
/// Missing ranks that are listed.
const MAX_MISSING_RANKS_LISTED: usize = 256;

/// Judges a log. `expected` are names of transports, any but TCP if empty.
#[must_use]
pub fn findings_of_log(log: &Log, expected: &[String]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut crossing = 0_usize;
    for (at, communicator) in log.communicators().iter().enumerate() {
        let ranks = log.ranks(communicator);
        if log.does_use_network(communicator) {
            crossing += 1;
            report_unexpected_transports(log, expected, at, &ranks, &mut found);
            report_missing_gpudirect(log, at, &ranks, &mut found);
        }
        report_differences_between_ranks(log, at, &ranks, &mut found);
        report_missing_ranks(communicator, at, &ranks, &mut found);
        // Not after each communicator: each time, all findings are sorted.
        if found.len() > 2 * MAX_FINDINGS {
            keep_worst_findings(&mut found);
        }
    }
    keep_worst_findings(&mut found);
    report_known_lines(log, &mut found);
    report_log_that_proves_nothing(log, crossing, &mut found);
    report_facts_beyond_limits(log, &mut found);
    found.sort_by_key(|finding| {
        (std::cmp::Reverse(finding.kind.level()), finding.communicator, finding.place)
    });
    found
}

/// Many findings of the first communicators hide no worse finding of a later one.
fn keep_worst_findings(found: &mut Vec<Finding>) {
    found.sort_by_key(|finding| {
        (std::cmp::Reverse(finding.kind.level()), finding.kind.is_unknown(), finding.communicator)
    });
    found.truncate(MAX_FINDINGS);
}

fn plain(
    kind: Kind,
    communicator: Option<usize>,
    message: String,
    fix: &str,
    place: Option<Place>,
) -> Finding {
    Finding { kind, communicator, message, fix: fix.to_owned(), place, rules: &[], explain: None }
}

fn place_of_first_rank(ranks: &[&Rank]) -> Option<Place> {
    ranks.iter().map(|rank| rank.first).min()
}

/// `rank 3 uses`, `ranks 0-7 use`: the ranks with the verb's form for one and for more.
fn ranks_in_words(ranks: &[&Rank], one: &str, more: &str) -> String {
    let numbers = number_ranges(ranks.iter().map(|rank| rank.rank));
    let single = ranks.iter().all(|rank| ranks.first().is_some_and(|first| first.rank == rank.rank));
    if single { format!("rank {numbers} {one}") } else { format!("ranks {numbers} {more}") }
}

/// Transports other than expected, grouped by name and reason.
fn report_unexpected_transports(
    log: &Log,
    expected: &[String],
    at: usize,
    ranks: &[&Rank],
    found: &mut Vec<Finding>,
) {
    let mut wrong: BTreeMap<(String, Option<Reason>), Vec<&Rank>> = BTreeMap::new();
    let mut unknown = Vec::new();
    for rank in ranks {
        if log.network_of(rank).is_none() {
            unknown.push(*rank);
        }
        let is_wrong = |name: &&str| match expected {
            [] => transport(name) == Transport::Tcp,
            expected => !expected.iter().any(|e| is_transport_as_expected(name, e)),
        };
        for name in log.networks_of(rank).filter(is_wrong) {
            let tcp = transport(name) == Transport::Tcp;
            let reason = log.process_of(rank).filter(|_| tcp).and_then(|process| log.why_tcp(process));
            wrong.entry((name.to_owned(), reason)).or_default().push(rank);
        }
    }
    for ((name, reason), ranks) in wrong {
        let tcp = transport(&name) == Transport::Tcp;
        let kind = if tcp { Kind::TcpFallback } else { Kind::UnexpectedNetwork };
        let uses =
            format!("{} network {}", ranks_in_words(&ranks, "uses", "use"), escaped_and_cut(&name, 64));
        let known = reason.is_some();
        let reason = reason.unwrap_or_else(|| Reason {
            cause: if tcp { "No line of the log gives the reason.".to_owned() } else { String::new() },
            fix: if tcp {
                "Set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET,ENV, and run again. If you also set NCCL_NET=IB, NCCL stops with an error instead of using TCP."
            } else {
                "Set NCCL_NET to the name of the expected transport, and check which network plugin the image has."
            }
            .to_owned(),
            rules: if tcp { &["FAB413"] } else { &[] },
            explain: None,
        });
        let what = if tcp { "which is TCP".to_owned() } else { format!("expected: {}", expected.join(", ")) };
        let message = format!("{uses}, {what}. {}", reason.cause).trim_end().to_owned();
        let explain = if known { reason.explain } else { tcp.then(|| "Using network Socket".to_owned()) };
        found.push(Finding {
            kind,
            communicator: Some(at),
            message,
            fix: reason.fix,
            place: place_of_first_rank(&ranks),
            rules: reason.rules,
            explain,
        });
    }
    if !unknown.is_empty() {
        let message =
            format!("{} a transport that no line of the log names", ranks_in_words(&unknown, "uses", "use"));
        let fix = "Set NCCL_DEBUG=INFO, leave NCCL_DEBUG_SUBSYS unset, and pass the whole log, from its first line.";
        found.push(plain(Kind::NetworkUnknown, Some(at), message, fix, place_of_first_rank(&unknown)));
    }
}

/// Whether a transport has this name; the version of a plugin may be left out.
fn is_transport_as_expected(name: &str, expected: &str) -> bool {
    let plain = name.rsplit_once("_v").map_or(name, |(plain, _)| plain);
    name.eq_ignore_ascii_case(expected) || plain.eq_ignore_ascii_case(expected)
}

/// Connections without GPUDirect.
fn report_missing_gpudirect(log: &Log, at: usize, ranks: &[&Rank], found: &mut Vec<Finding>) {
    let copied = |rank: &&&Rank| matches!(log.gpudirect_use_of_rank(rank), Some(Direct::None | Direct::Some));
    let ranks: Vec<&Rank> = ranks.iter().filter(copied).copied().collect();
    let Some(first) = ranks.first() else { return };
    let (direct, through) = ranks.iter().fold((0_u64, 0_u64), |(direct, copied), rank| {
        (direct + u64::from(rank.direct), copied + u64::from(rank.copied))
    });
    let share = match through {
        0 => String::new(),
        _ => format!(" in {through} of {} channel ends", direct + through),
    };
    let reason = log.process_of(first).and_then(|process| log.why_copied(process));
    let cause = reason.as_ref().map_or_else(String::new, |reason| format!(". {}", reason.cause));
    let message =
        format!("{} the network without GPUDirect RDMA{share}{cause}", ranks_in_words(&ranks, "uses", "use"));
    let fix = reason.as_ref().map_or_else(
        || {
            "Load nvidia_peermem on the node, or use a driver and kernel with DMA-BUF; check that GPU and NIC share a PCIe \
             switch. In a VM, NCCL needs a topology file."
                .to_owned()
        },
        |reason| reason.fix.clone(),
    );
    let (rules, explain) = reason.map_or((&[][..], None), |reason| (reason.rules, reason.explain));
    let explain = explain.or_else(|| Some("GPU Direct RDMA Disabled for HCA".to_owned()));
    found.push(Finding {
        kind: Kind::NoGpuDirect,
        communicator: Some(at),
        message,
        fix,
        place: place_of_first_rank(&ranks),
        rules,
        explain,
    });
}

/// Facts in which the ranks of a communicator must agree.
fn report_differences_between_ranks(log: &Log, at: usize, ranks: &[&Rank], found: &mut Vec<Finding>) {
    let nics = |rank: &Rank| nics_of_list(log.devices_of(rank).unwrap_or_default());
    let links = |rank: &Rank| {
        let links: BTreeSet<&str> = nics(rank).map(|(_, link)| link).collect();
        (!links.is_empty()).then(|| links.into_iter().collect::<Vec<_>>().join(" and "))
    };
    let number_of_nics = |rank: &Rank| match nics(rank).count() {
        0 => None,
        n => Some(count_with_noun(n, "NIC")),
    };
    let direct = |rank: &Rank| {
        log.gpudirect_use_of_rank(rank).map(|d| match d {
            Direct::All => "GPUDirect RDMA".to_owned(),
            Direct::Some => "GPUDirect RDMA in some connections".to_owned(),
            Direct::None => "no GPUDirect RDMA".to_owned(),
        })
    };
    type Fact<'a> = Box<dyn Fn(&Rank) -> Option<String> + 'a>;
    let facts: [(&str, Fact<'_>, &str, &'static [&'static str]); 5] = [
        (
            "network",
            Box::new(|rank| {
                log.network_of(rank).map(|name| format!("network {}", escaped_and_cut(name, 64)))
            }),
            "Give all pods of the job the same networks, RDMA resources, image and NCCL variables.",
            &["FAB202", "FAB413"],
        ),
        (
            "number of NICs",
            Box::new(number_of_nics),
            "Give all pods of the job the same number of networks and units, or one FabricProfile.",
            &["FAB202"],
        ),
        (
            "link layer",
            Box::new(links),
            "Run all pods of the job on one fabric: name one FabricProfile, or select the nodes of one fabric.",
            &["FAB806", "FAB412"],
        ),
        (
            "use of GPUDirect",
            Box::new(direct),
            "Compare nvidia_peermem, the driver and the PCIe topology of the nodes.",
            &[],
        ),
        (
            "version of NCCL",
            Box::new(|rank| {
                log.version_of(rank).map(|version| format!("NCCL {}", escaped_and_cut(version, 64)))
            }),
            "Use one image for all pods of the job.",
            &[],
        ),
    ];
    for (what, fact, fix, rules) in facts {
        let mut groups: BTreeMap<String, Vec<&Rank>> = BTreeMap::new();
        for rank in ranks {
            if let Some(value) = fact(rank) {
                groups.entry(value).or_default().push(rank);
            }
        }
        if groups.len() < 2 {
            continue;
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, ranks)| ranks.first().map(|rank| rank.rank));
        let more = groups.len().saturating_sub(4);
        let mut parts: Vec<String> = groups
            .iter()
            .take(4)
            .map(|(value, ranks)| format!("{} {value}", ranks_in_words(ranks, "has", "have")))
            .collect();
        if more > 0 {
            parts.push(format!("{more} more values"));
        }
        let message = format!("ranks differ in {what}: {}", parts.join("; "));
        // The first rank of the second group is where the log stops being uniform.
        let at_line = groups.get(1).and_then(|(_, ranks)| place_of_first_rank(ranks));
        let finding = Finding { rules, ..plain(Kind::RanksDiffer, Some(at), message, fix, at_line) };
        found.push(finding);
    }
}

/// Ranks that the log does not have, and ranks that did not finish.
fn report_missing_ranks(communicator: &Communicator, at: usize, ranks: &[&Rank], found: &mut Vec<Finding>) {
    let unfinished: Vec<&Rank> = ranks.iter().filter(|rank| rank.began && !rank.complete).copied().collect();
    if !unfinished.is_empty() {
        let message =
            format!("{} initialisation and did not finish it", ranks_in_words(&unfinished, "began", "began"));
        let fix = "If the log is complete, look for the ranks that did not start, and for the first warning of each rank.";
        found.push(plain(Kind::IncompleteInit, Some(at), message, fix, place_of_first_rank(&unfinished)));
    }
    let Some(size) = communicator.size else { return };
    let present: BTreeSet<u32> = ranks.iter().map(|rank| rank.rank).collect();
    let lacking = (size as usize).saturating_sub(present.len());
    if lacking > 0 {
        let size = size as usize;
        let mut message = format!("the log has no lines from {lacking} of {}", count_with_noun(size, "rank"));
        // Sizes come from the log: a long list is neither made nor shown.
        if lacking <= MAX_MISSING_RANKS_LISTED {
            let all = (0..u32::try_from(size).unwrap_or_default()).filter(|rank| !present.contains(rank));
            message = format!("{message}: {}", number_ranges(all));
        }
        let fix = "Pass the logs of all pods to check that all ranks agree.";
        found.push(plain(Kind::MissingRanks, Some(at), message, fix, Some(communicator.first)));
    }
}

/// Known lines, and warnings.
fn report_known_lines(log: &Log, found: &mut Vec<Finding>) {
    for matched in log.known_lines() {
        let times = if matched.count == 1 { "once".to_owned() } else { format!("{} times", matched.count) };
        let Some(line) = matched.line else {
            let message = format!(
                "{} of NCCL that fabric-admission explain does not know; the first one: {}",
                count_with_noun(usize::try_from(matched.count).unwrap_or(usize::MAX), "warning"),
                matched.text
            );
            let fix = "Search the text of the warning in the issues of NVIDIA/nccl.";
            found.push(plain(Kind::UnknownWarning, None, message, fix, Some(matched.first)));
            continue;
        };
        if line.meaning != Meaning::Failure {
            continue;
        }
        let kind = if matched.warned { Kind::FailureLine } else { Kind::Retried };
        found.push(Finding {
            kind,
            communicator: None,
            message: format!("{:?} ({times}). {}", matched.text, line.cause),
            fix: line.fix.to_owned(),
            place: Some(matched.first),
            rules: line.rules,
            explain: Some(line.quoted()),
        });
    }
}

/// A log that proves nothing does not pass.
fn report_log_that_proves_nothing(log: &Log, crossing: usize, found: &mut Vec<Finding>) {
    let (kind, message, fix) = if log.nccl_lines == 0 {
        (
            Kind::NoNcclLines,
            "the log has no line of NCCL",
            "Set NCCL_DEBUG=INFO in the job. If NCCL_DEBUG_FILE is set, pass that file instead.",
        )
    } else if log.communicators().is_empty() {
        (
            Kind::NoCommunicator,
            "the log has no line about a communicator",
            "Set NCCL_DEBUG=INFO, leave NCCL_DEBUG_SUBSYS unset, and pass the whole log, from its first line.",
        )
    } else if crossing == 0 {
        (
            Kind::NetworkNotUsed,
            "no communicator sends over the network, so the log does not show whether the fabric works",
            "Run the job, or all_reduce_perf, on two nodes or more.",
        )
    } else {
        return;
    };
    found.push(plain(kind, None, message.to_owned(), fix, None));
}

/// A log of which only a part is judged does not pass.
fn report_facts_beyond_limits(log: &Log, found: &mut Vec<Finding>) {
    let beyond = log.skipped.beyond_limits;
    if beyond == 0 {
        return;
    }
    let facts = count_with_noun(usize::try_from(beyond).unwrap_or(usize::MAX), "fact");
    let message = format!(
        "the log exceeds the limits of verify-log, which ignored {facts}: a part of the log is not judged"
    );
    let fix = "Run verify-log on fewer logs at once, such as the logs of one job, or of one process that creates many communicators.";
    found.push(plain(Kind::BeyondLimits, None, message, fix, None));
}
