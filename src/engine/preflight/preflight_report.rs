//! The report of all checks, for people, programs and the termination message of the container.

use super::check_outcome::{Verdict, WhoCanFix};
use super::checks::CHECKS;
use super::expectation_document::Policy;
use super::readings::Readings;
use crate::text::{escaped_and_cut, text_without_runner_commands as shown};
use schemars::JsonSchema;
use serde::Serialize;

/// Name and version of the JSON format.
pub const SCHEMA: &str = "fabric-admission.dev/preflight/v1";

/// Longest termination message (bytes). The kubelet keeps the last 4096 bytes of the file (kubernetes
/// pkg/kubelet/container/runtime.go).
const MAX_TERMINATION_MESSAGE_BYTES: usize = 4096;

/// Most characters of a message, which may quote names from the node.
const MAX_MESSAGE_CHARACTERS: usize = 600;

/// The whole report.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Report {
    /// Always `fabric-admission.dev/preflight/v1`.
    pub schema: &'static str,
    /// The worst verdict of all checks. `pass` only if every check that is not off passes.
    pub verdict: Verdict,
    /// Who can fix the failure; null if nothing failed.
    pub fault: Option<WhoCanFix>,
    /// Profile and fingerprint that the checks compare with; null if unknown.
    pub profile: Option<String>,
    /// The checks, by id.
    pub checks: Vec<PreflightReportEntry>,
}

/// One check.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Check")]
pub struct PreflightReportEntry {
    /// Id, which stays the same in all versions.
    pub id: String,
    /// Subject of the check.
    pub title: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Who can fix it; null if nothing is wrong.
    pub fault: Option<WhoCanFix>,
    /// What was found.
    pub message: String,
    /// What to do; null if nothing.
    pub fix: Option<String>,
}

impl Report {
    /// Runs all checks.
    #[must_use]
    pub fn run_all_checks(seen: &Readings) -> Self {
        let entries = CHECKS.iter().map(|check| {
            let outcome = check.judge_with_policy(seen);
            PreflightReportEntry {
                id: check.id.to_owned(),
                title: check.title().to_owned(),
                verdict: outcome.verdict,
                fault: outcome.fault,
                message: escaped_and_cut(&outcome.message, MAX_MESSAGE_CHARACTERS),
                fix: Some(outcome.fix).filter(|fix| !fix.is_empty()),
            }
        });
        let profile = seen.expectation.as_ref().ok().and_then(|expected| expected.as_ref()?.profile.clone());
        let mut report = Self {
            schema: SCHEMA,
            verdict: Verdict::Unknown,
            fault: None,
            profile: profile.map(|name| escaped_and_cut(&name, 300)),
            checks: entries.collect(),
        };
        report.set_verdict_and_fault();
        report
    }

    /// The result of writing the files: how many, or why not.
    pub fn record_result_of_writing_files(
        &mut self,
        written: Result<String, String>,
        policy: Option<Policy>,
    ) {
        // A check that the profile skips has no result.
        if policy == Some(Policy::Skip) {
            return;
        }
        let Some(entry) = self.checks.iter_mut().find(|check| check.id == "PF002") else { return };
        let fix = "Check that the volume is large enough, that no mount of the volume is read-only, and that no \
                   earlier container mounts a subPath of the volume.";
        (entry.verdict, entry.fault, entry.message, entry.fix) = match written {
            Ok(what) => (Verdict::Pass, None, what, None),
            Err(why) if policy == Some(Policy::Warn) => (
                Verdict::Warn,
                Some(WhoCanFix::Own),
                escaped_and_cut(&why, MAX_MESSAGE_CHARACTERS),
                Some(fix.to_owned()),
            ),
            Err(why) => (
                Verdict::Fail,
                Some(WhoCanFix::Own),
                escaped_and_cut(&why, MAX_MESSAGE_CHARACTERS),
                Some(fix.to_owned()),
            ),
        };
        self.set_verdict_and_fault();
    }

    fn set_verdict_and_fault(&mut self) {
        let worst = self.checks.iter().map(|check| check.verdict).max();
        // Without any pass nothing was learned.
        self.verdict = worst.filter(|worst| *worst != Verdict::Off).unwrap_or(Verdict::Unknown);
        let failed = self.checks.iter().filter(|check| check.verdict == Verdict::Fail);
        // A wrong configuration first: no other node can help.
        self.fault = failed.filter_map(|check| check.fault).min();
    }

    /// The last line: the verdict, and the checks behind it.
    #[must_use]
    pub fn verdict_line(&self) -> String {
        let of = |verdict: Verdict| self.checks.iter().filter(move |check| check.verdict == verdict);
        let names = |verdict| of(verdict).map(|check| check.id.as_str()).collect::<Vec<_>>().join(", ");
        let counts = [Verdict::Fail, Verdict::Warn, Verdict::Unknown, Verdict::Pass].map(|verdict| {
            let ids = if verdict == Verdict::Pass { String::new() } else { names(verdict) };
            match (of(verdict).count(), ids.is_empty()) {
                (0, _) => String::new(),
                (count, true) => format!("{count} {}", verdict.word()),
                (count, false) => format!("{count} {} ({ids})", verdict.word()),
            }
        });
        let counts: Vec<String> = counts.into_iter().filter(|count| !count.is_empty()).collect();
        let fault = self.fault.map(|fault| format!(", {} fault", fault.word())).unwrap_or_default();
        format!("preflight: {}{fault}: {}", self.verdict.word(), counts.join(", "))
    }

    /// The report as text: one line per check, and its fix below.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for check in &self.checks {
            text.push_str(&check.line());
        }
        text.push_str(&self.verdict_line());
        text.push('\n');
        text
    }

    /// What the termination message of the container holds: at most 4096 bytes, the worst checks first, the verdict last.
    #[must_use]
    pub fn termination_message(&self) -> String {
        let last = self.verdict_line();
        let mut checks: Vec<&PreflightReportEntry> =
            self.checks.iter().filter(|check| check.verdict > Verdict::Pass).collect();
        checks.sort_by(|a, b| b.verdict.cmp(&a.verdict).then_with(|| a.id.cmp(&b.id)));
        let mut text = String::new();
        for check in checks {
            let line = check.line();
            if text.len() + line.len() + last.len() + 1 > MAX_TERMINATION_MESSAGE_BYTES {
                break;
            }
            text.push_str(&line);
        }
        // The ids of all checks fit many times.
        text.push_str(&last);
        text.push('\n');
        text
    }
}

impl PreflightReportEntry {
    fn line(&self) -> String {
        let fix = self.fix.as_deref().map(|fix| format!("                fix: {}\n", shown(fix)));
        let (verdict, fix) = (self.verdict.word(), fix.unwrap_or_default());
        format!("{}  {verdict:<7}  {}: {}\n{fix}", self.id, self.title, shown(&self.message))
    }
}
