//! Dry runs of two pods, judged.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, Tried};
use super::probe_pods_and_their_answers::{Wrong, not_changed, not_refused};

fn dry_runs_or_skip(facts: &Facts) -> Result<&Tried, DoctorCheckOutcome> {
    facts.calls.as_ref().map_err(|not| {
        let skipped = DoctorCheckOutcome::skipped_with(&not.why, &not.hint);
        // Whoever may opt in later chose so. A failed read was not chosen, and hides whether the webhook works.
        if not.unread { skipped.error_in_place_of_skip() } else { skipped }
    })
}

fn outcome_of_dry_run(tried: &Tried, done: &str, wrong: Option<Wrong>) -> DoctorCheckOutcome {
    let place = format!("in namespace {}, with profile {:?}", tried.namespace, tried.profile);
    match wrong {
        None => DoctorCheckOutcome::success_with(format!("{done} {place}")),
        Some(Wrong { problem, fix }) => DoctorCheckOutcome::error(format!("{place}: {problem}"), fix),
    }
}

pub(super) fn check_good_pod_is_changed(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let tried = dry_runs_or_skip(facts)?;
    Ok(outcome_of_dry_run(tried, "changed", not_changed(&tried.good)))
}

pub(super) fn check_bad_pod_is_refused(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let tried = dry_runs_or_skip(facts)?;
    Ok(outcome_of_dry_run(tried, "refused", not_refused(&tried.bad)))
}
