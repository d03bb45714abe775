//! What is decided on one object.

use crate::patch::Patch;
use crate::plan::Plan;
use crate::resolve::ResolutionKind;
use crate::rules::which_findings_annotations_ignore::Suppressed;
use crate::rules::{Finding, NotChecked};

/// What is decided on one object.
#[derive(Debug, Clone, Default)]
pub struct Decision {
    /// Whether the object has anything that is looked at.
    pub in_scope: bool,
    /// Whether its pods ask for no accelerators: rules look at them, and no profile is for them.
    pub rules_only: bool,
    /// Name of the profile.
    pub profile: Option<String>,
    /// Names of the profiles of its nodes whose `require` and `forbid` hold beside it.
    pub also_held: Vec<String>,
    /// What named it, or why there is none, in a few words.
    pub evidence: Option<String>,
    /// How the search for a profile ended; `None` where no profile was searched.
    pub outcome: Option<ResolutionKind>,
    /// Intended changes.
    pub plan: Plan,
    /// The same as RFC 6902 operations on the object.
    pub patch: Patch,
    /// Findings, most severe first, then in the order of the rules.
    pub findings: Vec<Finding>,
    /// Findings that annotations set aside; they count for nothing.
    pub suppressed: Vec<Suppressed>,
    /// Whether the object is refused.
    pub denied: bool,
    /// Whether it would be refused in mode enforce, but is not in this one.
    pub would_deny: bool,
}

/// What is looked at in the parts of an object.
#[derive(Debug, Default, Clone)]
pub(super) struct ScopeOfParts {
    /// Whether anything is.
    pub(super) any: bool,
    /// Whether a profile may be for any of it.
    pub(super) of_profile: bool,
    /// What is not checked.
    pub(super) not_checked: Option<NotChecked>,
}

impl ScopeOfParts {
    pub(super) fn add_scope_of(&mut self, decision: &Decision) {
        self.any |= decision.in_scope;
        self.of_profile |= decision.in_scope && !decision.rules_only;
    }
}

impl Decision {
    /// Removes the patch and the planned changes: nothing is done to a denied object.
    pub(super) fn drop_changes(&mut self) {
        self.patch.clear();
        self.plan.changes.clear();
    }

    /// The same without plan and patch, whose memory is free again.
    pub(super) fn without_plan_and_patch(self) -> Self {
        Self { plan: Plan::default(), patch: Patch::default(), ..self }
    }
}
