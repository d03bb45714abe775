//! Whether an object is denied: by its findings, the point of admission, the mode, and whether the namespace opted in.

use super::decision::Decision;
use super::order_of_findings::most_severe_first;
use super::pod_request::Stage;
use crate::facts::EnforcementMode;
use crate::rules::{self, Finding, Severity};

/// Turns severities into a verdict. Where the namespace did not opt in nothing is refused, and nothing is
/// louder than information.
pub(super) fn lower_severities_then_sort_and_judge(
    decision: &mut Decision,
    stage: Stage,
    mode: EnforcementMode,
    opted_in: bool,
) {
    if !opted_in {
        decision.findings.iter_mut().for_each(Finding::cap_at_info_without_opt_in);
    }
    most_severe_first(&mut decision.findings);
    // Before the last mutating webhook has run, most errors may still be fixed.
    let counts = |f: &Finding| {
        stage != Stage::Mutate || rules::find_rule(f.rule).is_some_and(|r| r.denies_before_final)
    };
    let errors = decision.findings.iter().any(|f| f.severity == Severity::Error && counts(f));
    decision.set_verdict_and_drop_denied_changes(errors, mode);
}

impl Decision {
    /// Sets the verdict. A denied object loses its patch and planned changes: nothing is done to it.
    pub fn set_verdict_and_drop_denied_changes(&mut self, errors: bool, mode: EnforcementMode) {
        self.denied = errors && mode == EnforcementMode::Enforce;
        self.would_deny = errors && mode == EnforcementMode::Audit;
        if self.denied {
            self.drop_changes();
        }
    }
}
