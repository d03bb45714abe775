//! Findings and patches are the same in every mode; only verdicts differ.

use crate::support::generated_world::World;
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::Stage;
use fabric_admission::rules::Severity;

pub(super) fn modes(world: &World) -> Result<(), String> {
    let decide = |stage, mode| world.decide_as(&world.pod, stage, mode);
    let (Some(enforce), Some(audit)) =
        (decide(Stage::Whole, EnforcementMode::Enforce), decide(Stage::Whole, EnforcementMode::Audit))
    else {
        return Ok(());
    };
    let Some(mutate) = decide(Stage::Mutate, EnforcementMode::Enforce) else {
        return Err("read once only".to_owned());
    };
    let errors = |only: &[&str]| {
        let mut errors = enforce.findings.iter().filter(|f| f.severity == Severity::Error);
        errors.any(|f| only.is_empty() || only.contains(&f.rule))
    };
    let verdicts = [enforce.denied, enforce.would_deny, audit.denied, audit.would_deny, mutate.denied];
    // Before the last mutating webhook has run, only these cannot be corrected any more.
    if verdicts != [errors(&[]), false, false, errors(&[]), errors(&["FAB101", "FAB804", "FAB810", "FAB814"])]
    {
        return Err(format!("verdicts {verdicts:?} for {:#?}", enforce.findings));
    }
    for (decision, denied) in [(&enforce, enforce.denied), (&mutate, mutate.denied)] {
        if decision.findings != audit.findings || decision.profile != audit.profile {
            return Err(format!("{:#?} is found, in audit {:#?}", decision.findings, audit.findings));
        }
        let expected = if denied { "[]".to_owned() } else { format!("{:?}", audit.patch) };
        if format!("{:?}", decision.patch) != expected || denied && !decision.plan.changes.is_empty() {
            return Err(format!("patch {:#?}, in audit {:#?}", decision.patch, audit.patch));
        }
    }
    Ok(())
}
