//! What a rule reports about an object.

use super::most_findings_per_rule::{MAX_FINDINGS_PER_RULE_AND_SEVERITY, MAX_MESSAGE_LENGTH};
use crate::decision_limits::{DecisionLimits, NEVER};
use crate::text::escaped_and_cut;
use schemars::JsonSchema;
use serde::Serialize;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Usually wrong, or wrong depending on facts that are not known.
    Warning,
    /// Cannot work; denied where the mode is enforce.
    Error,
}

impl Severity {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A place inside of a text field, both counted from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineAndColumn {
    /// Line of the text.
    pub line: u32,
    /// Column in that line.
    pub column: u32,
}

/// One thing found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// Id of the rule.
    pub rule: &'static str,
    /// How bad it is here.
    pub severity: Severity,
    /// JSON pointer of the value it is about.
    pub path: String,
    /// Where in the text of that value, where it is about a part of it.
    pub spot: Option<LineAndColumn>,
    /// What is wrong, and the consequence.
    pub message: String,
    /// What to do.
    pub fix: String,
    /// Why it is less severe than the rule's findings can be; `None` where it is not.
    pub because: Option<&'static str>,
    /// The other object of a pair that the finding is about. A rule finds the same with every other object.
    pub other: Option<String>,
}

impl Finding {
    /// Lowers any severity above info to info, since nothing checks objects of its namespace in the cluster.
    pub fn cap_at_info_without_opt_in(&mut self) {
        if self.severity > Severity::Info {
            self.severity = Severity::Info;
            self.because = Some("the namespace did not opt in: the API server does not call the webhook");
        }
    }

    /// Message and fix in one line. The fix is a sentence; here it continues one.
    #[must_use]
    pub fn message_and_fix_in_line(&self) -> String {
        let mut fix = self.fix.chars();
        let (first, second) = (fix.next(), fix.clone().next());
        let first =
            first.map(|c| if second.is_some_and(char::is_lowercase) { c.to_ascii_lowercase() } else { c });
        let rest = fix.as_str();
        let rest = rest.strip_suffix('.').unwrap_or(rest);
        format!("{}; {}{rest}", self.message, first.map(String::from).unwrap_or_default())
    }
}

/// Findings as a person reads them: of those that differ in the other object only, the first, with the number of the
/// rest.
pub fn fold_by_other_object<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<(&'a Finding, usize)> {
    let mut folded: Vec<(&Finding, usize)> = Vec::new();
    let mut first: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in findings {
        let key = (finding.rule, finding.path.as_str());
        let known = first.get(&key).copied().filter(|_| finding.other.is_some());
        match known.and_then(|index| folded.get_mut(index)) {
            Some((_, more)) => *more += 1,
            None => {
                if finding.other.is_some() {
                    first.insert(key, folded.len());
                }
                folded.push((finding, 0));
            }
        }
    }
    folded
}

/// Longest pointer of a finding (bytes). Keys of Kubernetes objects are short, but a request may have a key of megabytes, and
/// each finding has a copy, is looked up in the text, and is compared with those of the old object.
const MAX_POINTER: usize = 1024;

/// The pointer of a value, or of the innermost value around it whose pointer is not too long.
pub(super) fn short_pointer(pointer: &str) -> &str {
    if pointer.len() <= MAX_POINTER {
        return pointer;
    }
    let end = (0..=MAX_POINTER).rev().find(|end| pointer.is_char_boundary(*end)).unwrap_or_default();
    let start = pointer.get(..end).unwrap_or_default();
    start.rsplit_once('/').map_or("", |(around, _)| around)
}

/// Takes the findings of one rule.
#[derive(Debug)]
pub struct FindingsOfRule<'a> {
    rule: &'static str,
    severity: Severity,
    lesser: &'static [(Severity, &'static str)],
    because: Option<&'static str>,
    other: Option<&'a str>,
    deadline: &'a DecisionLimits<'a>,
    /// The severities of which it takes no further finding, by number: to count its findings each time would cost as much as
    /// many of them.
    full: Cell<[bool; 3]>,
    out: &'a mut Vec<Finding>,
}

impl<'a> FindingsOfRule<'a> {
    /// Findings of one rule, collected into `out`; `severity` is the most severe that it may report.
    pub fn new(rule: &'static str, severity: Severity, out: &'a mut Vec<Finding>) -> Self {
        let full = Cell::default();
        Self { rule, severity, lesser: &[], because: None, other: None, deadline: &NEVER, full, out }
    }

    /// The same, with the rule's reasons for lesser severities.
    pub(super) fn with_reasons(self, lesser: &'static [(Severity, &'static str)]) -> Self {
        Self { lesser, ..self }
    }

    /// The same under a time limit.
    pub(super) fn with_deadline(self, deadline: &'a DecisionLimits<'a>) -> Self {
        Self { deadline, ..self }
    }

    /// The same collector for findings whose severity is lower for this reason, instead of the reason that the rule
    /// declares for the severity.
    pub(super) fn with_reason_for_lower_severity(&mut self, reason: &'static str) -> FindingsOfRule<'_> {
        let full = self.full.clone();
        let FindingsOfRule { rule, severity, lesser, other, deadline, .. } = *self;
        FindingsOfRule { rule, severity, lesser, because: Some(reason), other, deadline, full, out: self.out }
    }

    /// The same collector for findings about the object and one other. Of several that differ in the other object only,
    /// reports show the first and count the rest.
    pub(super) fn about_other_object<'b>(&'b mut self, other: &'b str) -> FindingsOfRule<'b> {
        let full = self.full.clone();
        let FindingsOfRule { rule, severity, lesser, because, deadline, .. } = *self;
        FindingsOfRule { rule, severity, lesser, because, other: Some(other), deadline, full, out: self.out }
    }

    /// A finding of the rule's own severity.
    pub fn add(&mut self, path: impl Into<String>, message: impl AsRef<str>, fix: impl AsRef<str>) {
        self.add_with_severity(self.severity, path, message, fix);
    }

    /// A finding of a lesser severity than the rule's.
    pub fn add_with_severity(
        &mut self,
        severity: Severity,
        path: impl Into<String>,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        if self.may_still_report(severity) {
            self.push_finding(severity, path.into(), None, message.as_ref(), fix.as_ref());
        }
    }

    /// A finding of the rule's own severity about a place inside of a text field.
    pub fn add_in_text(
        &mut self,
        path: impl Into<String>,
        spot: LineAndColumn,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        self.add_in_text_with_severity(self.severity, path, || spot, message, fix);
    }

    /// The same of a lesser severity. The place is asked for only where the finding is taken: to find it costs as much as
    /// the text is long, which may be full of faults.
    pub fn add_in_text_with_severity(
        &mut self,
        severity: Severity,
        path: impl Into<String>,
        spot: impl FnOnce() -> LineAndColumn,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        if self.may_still_report(severity) {
            self.push_finding(severity, path.into(), Some(spot()), message.as_ref(), fix.as_ref());
        }
    }

    /// Whether the rule should stop: it has reported as many findings of its own severity as it may, or the time is over.
    pub(super) fn must_stop_reporting(&self) -> bool {
        !self.may_still_report(self.severity)
    }

    /// Whether it takes another finding of a severity.
    pub(super) fn may_still_report(&self, severity: Severity) -> bool {
        let severity = severity.min(self.severity);
        let mut full = self.full.get();
        let Some(full_of_severity) = full.get_mut(severity as usize) else { return false };
        if *full_of_severity || self.deadline.is_over() {
            return false;
        }
        let own = self.out.iter().rev().take_while(|f| f.rule == self.rule);
        *full_of_severity =
            own.filter(|f| f.severity == severity).count() >= MAX_FINDINGS_PER_RULE_AND_SEVERITY;
        let takes = !*full_of_severity;
        self.full.set(full);
        takes
    }

    /// The names to compare with a wanted one; see [`DecisionLimits::take_names_within_budgets`].
    pub(super) fn take_names_within_budgets<'n>(
        &self,
        wanted: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> impl Iterator<Item = &'n str> {
        self.deadline.take_names_within_budgets(wanted, names)
    }

    fn push_finding(
        &mut self,
        severity: Severity,
        path: String,
        spot: Option<LineAndColumn>,
        message: &str,
        fix: &str,
    ) {
        let severity = severity.min(self.severity);
        let declared =
            || self.lesser.iter().find(|(lesser, _)| *lesser == severity).map(|(_, reason)| *reason);
        let because = if severity < self.severity { self.because.or_else(declared) } else { None };
        self.out.push(Finding {
            rule: self.rule,
            severity,
            path: if path.len() > MAX_POINTER { short_pointer(&path).to_owned() } else { path },
            spot,
            message: escaped_and_cut(message, MAX_MESSAGE_LENGTH),
            fix: escaped_and_cut(fix, MAX_MESSAGE_LENGTH),
            because,
            other: self.other.map(str::to_owned),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_pointer_ends_at_a_value_around() {
        let long = format!("/data/{}/0", "é".repeat(MAX_POINTER));
        assert_eq!(short_pointer(&long), "/data");
        let most = format!("/data/{}", "a".repeat(MAX_POINTER - 6));
        assert_eq!(short_pointer(&most), most);
    }

    #[test]
    fn a_fix_continues_the_message() {
        let line = |fix: &str| {
            let (rule, path, message) = ("FAB101", String::new(), "it fails".to_owned());
            let (spot, because, other) = (None, None, None);
            let fix = fix.to_owned();
            Finding { rule, severity: Severity::Error, path, spot, message, fix, because, other }
                .message_and_fix_in_line()
        };
        assert_eq!(line("Set numVfs: 8."), "it fails; set numVfs: 8");
        assert_eq!(line("IPC_LOCK is missing. Add it."), "it fails; IPC_LOCK is missing. Add it");
        assert_eq!(line(""), "it fails; ");
    }

    #[test]
    fn findings_on_pairs_are_folded() {
        let mut out = Vec::new();
        let mut findings = FindingsOfRule::new("FAB325", Severity::Error, &mut out);
        for other in ["b", "c", "d"] {
            findings.about_other_object(other).add("/spec/a", other, "x");
        }
        findings.about_other_object("b").add("/spec/z", "b", "x");
        findings.add("/spec/a", "alone", "x");
        let shown: Vec<(&str, usize)> =
            fold_by_other_object(out.iter()).iter().map(|(f, n)| (&*f.message, *n)).collect();
        assert_eq!(shown, [("b", 2), ("b", 0), ("alone", 0)]);
    }

    #[test]
    fn a_lesser_severity_has_its_reason() {
        let mut out = Vec::new();
        let mut findings = FindingsOfRule::new("FAB325", Severity::Error, &mut out)
            .with_reasons(&[(Severity::Warning, "declared"), (Severity::Info, "quiet")]);
        findings.add("", "a", "b");
        findings.add_with_severity(Severity::Warning, "", "a", "b");
        findings.with_reason_for_lower_severity("given").add_with_severity(Severity::Warning, "", "a", "b");
        findings.with_reason_for_lower_severity("given").add_with_severity(Severity::Error, "", "a", "b");
        findings.add_with_severity(Severity::Info, "", "a", "b");
        let reasons: Vec<Option<&str>> = out.iter().map(|f| f.because).collect();
        assert_eq!(reasons, [None, Some("declared"), Some("given"), None, Some("quiet")]);
    }

    #[test]
    fn lesser_findings_hide_no_error() {
        let mut out = Vec::new();
        let mut findings = FindingsOfRule::new("FAB403", Severity::Error, &mut out);
        for severity in [Severity::Info, Severity::Warning] {
            (0..2 * MAX_FINDINGS_PER_RULE_AND_SEVERITY)
                .for_each(|_| findings.add_with_severity(severity, "", "harmless", ""));
        }
        assert!(!findings.must_stop_reporting());
        (0..2 * MAX_FINDINGS_PER_RULE_AND_SEVERITY).for_each(|_| findings.add("", "refused", ""));
        assert!(findings.must_stop_reporting());
        let count = |severity| out.iter().filter(|f| f.severity == severity).count();
        assert_eq!(
            [Severity::Info, Severity::Warning, Severity::Error].map(count),
            [MAX_FINDINGS_PER_RULE_AND_SEVERITY; 3]
        );
    }

    #[test]
    fn only_reported_places_are_looked_up() {
        let (mut out, mut asked) = (Vec::new(), 0);
        let mut findings = FindingsOfRule::new("FAB101", Severity::Error, &mut out);
        for _ in 0..3 * MAX_FINDINGS_PER_RULE_AND_SEVERITY {
            let place = || {
                asked += 1;
                LineAndColumn { line: 1, column: 1 }
            };
            findings.add_in_text_with_severity(Severity::Info, "/spec/config", place, "a", "b");
        }
        assert_eq!(
            (out.len(), asked),
            (MAX_FINDINGS_PER_RULE_AND_SEVERITY, MAX_FINDINGS_PER_RULE_AND_SEVERITY)
        );
    }
}
