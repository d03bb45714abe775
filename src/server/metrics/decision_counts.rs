//! What is counted of decisions: requests, namespaces, profiles, rules, changes and searches for a profile.

use super::bounded_names::{BoundedNames, INDEX_OF_NO_NAME, INDEX_OF_OTHER_NAMES};
use super::counter_grid::{self, Fixed, Grid, LabelValues, WhichZerosAreShown};
use super::profile_changes::ProfileChanges;
use crate::facts::EnforcementMode;
use crate::plan::ChangeKind;
use crate::resolve::ResolutionKind;
use crate::review::Verdict;
use crate::review::decide_webhook_request::{Answer, WebhookEntry};
use crate::rules::{RULES, Severity};
use crate::snapshot::Snapshot;
use crate::telemetry::metric_table as table;
use prometheus_client::registry::Registry;
use std::sync::Arc;

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestResult {
    /// With a decision.
    Decided(Verdict),
    /// A request that cannot be answered (4xx).
    BadRequest,
    /// An internal error (500).
    Fault,
    /// No decision within the webhook's timeout (504).
    Late,
}

/// Every result, in the order of its index, and its meaning for the docs.
pub const RESULTS: [(RequestResult, &str); 9] = [
    (RequestResult::Decided(Verdict::Allowed), "admitted without changes"),
    (RequestResult::Decided(Verdict::Mutated), "admitted with changes"),
    (
        RequestResult::Decided(Verdict::Withheld),
        "admitted without the planned changes, because of mode `audit` or `--mutate off`",
    ),
    (RequestResult::Decided(Verdict::Denied), "refused"),
    (
        RequestResult::Decided(Verdict::WouldDeny),
        "admitted, but would be refused in mode `enforce`. A workload would be refused with `--workloads deny`, and a \
         network object with `--network-objects enforce`",
    ),
    (
        RequestResult::Decided(Verdict::OutOfScope),
        "the object has nothing that the webhook checks or changes",
    ),
    (RequestResult::BadRequest, "not a valid AdmissionReview (status 4xx)"),
    (RequestResult::Fault, "internal error (status 500)"),
    (RequestResult::Late, "no decision within the webhook's timeout (status 504)"),
];

impl RequestResult {
    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Decided(verdict) => verdict.name(),
            Self::BadRequest => "bad_request",
            Self::Fault => "fault",
            Self::Late => "late",
        }
    }

    fn index(self) -> usize {
        RESULTS.iter().position(|(result, _)| *result == self).unwrap_or(RESULTS.len())
    }
}

/// Every entry with every mode in which it decides.
const ENTRIES_WITH_THEIR_MODES: [WebhookEntry; 8] = [
    WebhookEntry::Mutate,
    WebhookEntry::Validate,
    WebhookEntry::Audit,
    WebhookEntry::Workload(EnforcementMode::Enforce),
    WebhookEntry::Workload(EnforcementMode::Audit),
    WebhookEntry::Networks,
    WebhookEntry::Object(EnforcementMode::Enforce),
    WebhookEntry::Object(EnforcementMode::Audit),
];

const MODES: [EnforcementMode; 2] = [EnforcementMode::Enforce, EnforcementMode::Audit];
const SEVERITIES: [(Severity, &str); 3] =
    [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];

/// Name of an entry in metrics and in the log.
pub(in crate::server) fn entry_name(entry: WebhookEntry) -> &'static str {
    match entry {
        WebhookEntry::Mutate => "mutate",
        WebhookEntry::Validate => "enforce",
        WebhookEntry::Audit => "audit",
        WebhookEntry::Workload(_) => "workloads",
        WebhookEntry::Networks => "networks",
        WebhookEntry::Object(_) => "objects",
    }
}

/// Name of a mode in metrics and in the log.
pub(in crate::server) fn mode_name(mode: EnforcementMode) -> &'static str {
    match mode {
        EnforcementMode::Enforce => "enforce",
        EnforcementMode::Audit => "audit",
    }
}

/// Whether a counter by name is shown while it is zero: results that alerts and queries watch, at the entries that have them.
/// All results of two hundred names would be megabytes in each scrape.
fn is_shown_while_zero_by_name(indices: &[usize]) -> bool {
    let [_, called, result] = indices else { return false };
    let (Some(entry), Some((RequestResult::Decided(verdict), _))) =
        (ENTRIES_WITH_THEIR_MODES.get(*called), RESULTS.get(*result))
    else {
        return false;
    };
    let plans = matches!(entry, WebhookEntry::Mutate | WebhookEntry::Audit);
    match (verdict, entry.mode()) {
        (Verdict::Mutated, EnforcementMode::Enforce) => *entry == WebhookEntry::Mutate,
        (Verdict::Withheld, _) => plans,
        (Verdict::Denied, mode) => {
            mode == EnforcementMode::Enforce && !matches!(entry, WebhookEntry::Object(_))
        }
        (Verdict::WouldDeny, _) => {
            !matches!(entry, WebhookEntry::Object(_) | WebhookEntry::Mutate | WebhookEntry::Validate)
        }
        _ => false,
    }
}

fn index<T: PartialEq>(all: &[T], of: &T) -> usize {
    all.iter().position(|one| one == of).unwrap_or(all.len())
}

/// Counters of decisions.
#[derive(Debug)]
pub(super) struct Decisions {
    requests: Arc<Grid>,
    by_namespace: Arc<Grid>,
    by_profile: Arc<Grid>,
    findings: Arc<Grid>,
    changes: Arc<Grid>,
    resolutions: Arc<Grid>,
    namespaces: Arc<BoundedNames>,
    profiles: Arc<BoundedNames>,
    pub(super) profile_changes: ProfileChanges,
    /// Ids of the rules in order, for a search by halves.
    rules: Vec<&'static str>,
}

impl Decisions {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let called: Arc<dyn LabelValues> =
            Fixed::of_two(ENTRIES_WITH_THEIR_MODES.map(|entry| (entry_name(entry), mode_name(entry.mode()))));
        let results: Arc<dyn LabelValues> = Fixed::of(RESULTS.map(|(result, _)| result.name()));
        let modes: Arc<dyn LabelValues> = Fixed::of(MODES.map(mode_name));
        let (namespaces, profiles) = (Arc::<BoundedNames>::default(), Arc::new(BoundedNames::with_none()));
        let profile_changes = ProfileChanges::new(registry, Arc::<BoundedNames>::clone(&profiles));
        let mut rules: Vec<&'static str> = RULES.iter().map(|rule| rule.id).collect();
        rules.sort_unstable();
        let mut grid = |metric, axes: Vec<Arc<dyn LabelValues>>, zeros: WhichZerosAreShown| {
            let grid = Grid::new(metric, axes, zeros);
            registry.register_collector(Box::new(Arc::clone(&grid)));
            grid
        };
        let requests = grid(
            table::REQUESTS,
            vec![Arc::clone(&called), Arc::clone(&results)],
            counter_grid::ALL_ZEROS_SHOWN,
        );
        let by_namespace = grid(
            table::NAMESPACE_DECISIONS,
            vec![Arc::<BoundedNames>::clone(&namespaces), Arc::clone(&called), Arc::clone(&results)],
            is_shown_while_zero_by_name,
        );
        let by_profile = grid(
            table::PROFILE_DECISIONS,
            vec![Arc::<BoundedNames>::clone(&profiles), Arc::clone(&called), results],
            is_shown_while_zero_by_name,
        );
        let severities = Fixed::of(SEVERITIES.map(|(_, name)| name));
        let ids = Fixed::of(rules.iter().copied());
        let findings =
            grid(table::FINDINGS, vec![ids, severities, Arc::clone(&modes)], counter_grid::NO_ZEROS_SHOWN);
        let kinds = Fixed::of(ChangeKind::ALL.map(ChangeKind::name));
        let changes =
            grid(table::CHANGES, vec![kinds, Fixed::of(["made", "planned"])], counter_grid::ALL_ZEROS_SHOWN);
        let outcomes = Fixed::of(ResolutionKind::ALL.map(ResolutionKind::name));
        let resolutions = grid(table::RESOLUTIONS, vec![outcomes, modes], counter_grid::ALL_ZEROS_SHOWN);
        Self {
            requests,
            by_namespace,
            by_profile,
            findings,
            changes,
            resolutions,
            namespaces,
            profiles,
            profile_changes,
            rules,
        }
    }

    /// Shows the namespaces that opted in and the profiles with zeros, before their first decision.
    pub(super) fn show_names_with_zeros(&self, snapshot: &Snapshot) {
        self.namespaces.assign_places(snapshot.opted_in_namespaces());
        self.profiles.assign_places(snapshot.profiles().map(|profile| &*profile.name));
    }

    /// Counts an answered request.
    pub(super) fn count_request_result(&self, entry: WebhookEntry, result: RequestResult) {
        self.requests.count([index(&ENTRIES_WITH_THEIR_MODES, &entry), result.index()], 1);
    }

    /// Counts a decision. A namespace or profile has a label of its own only if it is one of the snapshot's: a name that
    /// a caller invents counts as `other`.
    pub(super) fn count_findings_profiles_and_changes(
        &self,
        answer: &Answer,
        verdict: Verdict,
        snapshot: &Snapshot,
    ) {
        let decision = &answer.decision;
        let mode = index(&MODES, &answer.entry.mode());
        for finding in &decision.findings {
            let rule = self.rules.binary_search(&finding.rule).unwrap_or(self.rules.len());
            let severity = SEVERITIES.iter().position(|(severity, _)| *severity == finding.severity);
            self.findings.count([rule, severity.unwrap_or(SEVERITIES.len()), mode], 1);
        }
        // Network objects and profiles are the administrator's: no namespace opts in for them.
        if !decision.in_scope || matches!(answer.entry, WebhookEntry::Object(_)) {
            return;
        }
        let (called, result) =
            (index(&ENTRIES_WITH_THEIR_MODES, &answer.entry), RequestResult::Decided(verdict).index());
        let known = snapshot.namespace(&answer.namespace).is_some_and(|facts| facts.mode().is_some());
        let namespace = if known {
            self.namespaces.find_or_assign_place(&answer.namespace)
        } else {
            INDEX_OF_OTHER_NAMES
        };
        self.by_namespace.count([namespace, called, result], 1);
        let profile = |name: &str| match snapshot.profile(name) {
            Some(profile) => self.profiles.find_or_assign_place(&profile.name),
            None => INDEX_OF_OTHER_NAMES,
        };
        if let Some(name) = decision.profile.as_deref().filter(|_| answer.templates.is_empty()) {
            self.by_profile.count([profile(name), called, result], 1);
        } else if decision.outcome.is_some() {
            self.by_profile.count([INDEX_OF_NO_NAME, called, result], 1);
        }
        for name in answer.templates.iter().filter_map(|template| template.profile.as_deref()) {
            self.by_profile.count([profile(name), called, result], 1);
        }
        // The other entries see the same pod again.
        if !matches!(answer.entry, WebhookEntry::Mutate | WebhookEntry::Audit) {
            return;
        }
        if let Some(outcome) = decision.outcome {
            self.resolutions.count([outcome as usize, mode], 1);
        }
        let made = usize::from(verdict != Verdict::Mutated);
        for change in &decision.plan.changes {
            self.changes.count([ChangeKind::of(&change.edit) as usize, made], 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_the_place_in_its_list() {
        for (index, outcome) in ResolutionKind::ALL.iter().enumerate() {
            assert_eq!(*outcome as usize, index);
        }
        for verdict in ["allowed", "mutated", "withheld", "denied", "would_deny", "out_of_scope"] {
            assert!(RESULTS.iter().any(|(result, _)| result.name() == verdict), "{verdict}");
        }
    }
}
