//! FAB138: rails of a FabricProfile that do not work together.

use crate::profile::Profile;
use crate::resolve::profile_status::pointer_of_missing_in_profile;
use crate::resolve::rail_faults;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::FABRIC_PROFILE;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB138",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[FABRIC_PROFILE],
    reads_only: true,
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // FAB811 reports a profile that cannot be used.
    let Ok(profile) = context.profile() else { return };
    let Ok(resolved) = Profile::checked_with_base(profile, context.snapshot.bases()) else { return };
    for fault in rail_faults(&resolved, context.snapshot) {
        findings.add(pointer_of_missing_in_profile(profile, &fault.at), fault.message, fault.fix);
    }
}
