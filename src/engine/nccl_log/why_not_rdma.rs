//! Why a process uses TCP, or copies through host memory.

use super::log_facts::Log;
use super::ranks_communicators_processes::Process;
use crate::known_lines::{KNOWN_LINES, KnownLine, Meaning};
use crate::nccl::numbers_as_nccl_reads::leading_number;

/// A reason, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reason {
    pub(super) cause: String,
    pub(super) fix: String,
    pub(super) rules: &'static [&'static str],
    /// Text for `explain`.
    pub(super) explain: Option<String>,
}

impl Reason {
    fn of(line: &'static KnownLine) -> Self {
        let (cause, fix) = (line.cause.to_owned(), line.fix.to_owned());
        Self { cause, fix, rules: line.rules, explain: Some(line.quoted()) }
    }

    fn setting(cause: String, fix: &str, rules: &'static [&'static str], variable: &str) -> Self {
        Self { cause, fix: fix.to_owned(), rules, explain: Some(variable.to_owned()) }
    }
}

/// Known lines that are a reason for something else than TCP, or that only say that TCP is used.
const NOT_FOR_TCP: [&str; 2] = ["Using network Socket", "GPU Direct RDMA Disabled for HCA"];
/// The line that follows from a missing libibverbs.
const NO_DEVICE: &str = "NET/IB : No device found";

impl Log {
    /// Known lines of a process, by their first fragment.
    fn reason_lines(process: &Process) -> impl Iterator<Item = &'static KnownLine> {
        let reasons = process.reasons;
        let has = move |at: usize| {
            u32::try_from(at).ok().and_then(|at| reasons.checked_shr(at)).unwrap_or(0) & 1 == 1
        };
        KNOWN_LINES
            .iter()
            .enumerate()
            .filter(move |(at, l)| has(*at) && l.meaning == Meaning::Reason)
            .map(|(_, l)| l)
    }

    /// Why a process uses TCP: the first of a setting, a missing library, a missing device, a plugin.
    pub(super) fn why_tcp(&self, process: &Process) -> Option<Reason> {
        let setting = |name| self.setting(process, name);
        if setting("NCCL_NET").is_some_and(|net| net.eq_ignore_ascii_case("socket")) {
            let cause = "NCCL_NET is set to Socket.".to_owned();
            return Some(Reason::setting(
                cause,
                "Remove NCCL_NET, or set NCCL_NET=IB.",
                &["FAB413"],
                "NCCL_NET",
            ));
        }
        if let Some(value) = setting("NCCL_IB_DISABLE").filter(|value| leading_number(value) != 0) {
            let cause = format!("NCCL_IB_DISABLE is set to {value}.");
            return Some(Reason::setting(cause, "Remove NCCL_IB_DISABLE.", &["FAB401"], "NCCL_IB_DISABLE"));
        }
        let first = |line: &&KnownLine| line.fragments.first().copied().unwrap_or_default();
        let lines: Vec<_> =
            Self::reason_lines(process).filter(|l| !NOT_FOR_TCP.contains(&first(l))).collect();
        // libibverbs is missing, so no device is found: the first is the reason.
        let line = lines.iter().find(|l| first(l) != NO_DEVICE).or_else(|| lines.first())?;
        let mut reason = Reason::of(line);
        if let Some(value) = setting("NCCL_IB_HCA").filter(|_| first(line) == NO_DEVICE) {
            reason.cause = format!("{} NCCL_IB_HCA is {value}.", reason.cause);
        }
        Some(reason)
    }

    /// Why a process copies through host memory.
    pub(super) fn why_copied(&self, process: &Process) -> Option<Reason> {
        if let Some(value) = self.setting(process, "NCCL_NET_GDR_LEVEL") {
            let cause = format!("NCCL_NET_GDR_LEVEL is set to {value}.");
            let fix = "Remove NCCL_NET_GDR_LEVEL, so that NCCL chooses the distance.";
            return Some(Reason::setting(cause, fix, &["FAB416"], "NCCL_NET_GDR_LEVEL"));
        }
        let disabled = |l: &&KnownLine| l.fragments.first() == Some(&"GPU Direct RDMA Disabled for HCA");
        Self::reason_lines(process).find(disabled).map(Reason::of)
    }
}
