//! FAB812: FabricProfile changed or deleted while namespaces use it.

use crate::facts::Mode;
use crate::json::decode::object as decode;
use crate::profile::{FabricProfile, Profile};
use crate::resolve::admits;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::FABRIC_PROFILE;
use crate::rules::object::{Event, ObjectContext};
use crate::rules::rule::{Rule, files};
use crate::snapshot::Snapshot;
use crate::text::count;

pub(super) static RULE: Rule = Rule {
    id: "FAB812",
    severity: Severity::Warning,
    files: files!(no_example: "only the webhook knows which namespaces use a profile"),
    kinds: &[FABRIC_PROFILE],
    at_one_point: true,
    reads_only: true,
    object: Some(check_object),
    deletion: Some(check_deletion),
    ..Rule::DEFAULT
};

/// Most namespaces that a finding names.
const MOST_NAMES: usize = 5;

fn check_object(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Event::Updated { old } = context.event else { return };
    // An invalid profile was not in use, and an invalid change leaves the old one in use.
    let (Some((before, old)), Some((after, new))) = (read(old, context), read(context.json, context)) else {
        return;
    };
    let changed = changes((&before, &old), (&after, &new));
    let users = users(&old, context.snapshot);
    if changed.is_empty() || users.is_empty() {
        return;
    }
    findings.add(
        "/spec",
        format!(
            "profile {:?} changes ({}) while {}: restarted ranks of running jobs get other settings",
            old.name,
            changed.join(", "),
            describe(&users, "may use")
        ),
        "Create a profile with another name, and use it for new jobs.",
    );
}

fn check_deletion(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some((_, profile)) = read(context.json, context) else { return };
    let users = users(&profile, context.snapshot);
    if users.is_empty() {
        return;
    }
    findings.add(
        "",
        format!(
            "profile {:?} is deleted while {}: pods that name it are refused from now on",
            profile.name,
            describe(&users, "may use")
        ),
        "Delete the profile when its last job has ended.",
    );
}

fn read(json: &str, context: &ObjectContext<'_>) -> Option<(FabricProfile, Profile)> {
    let profile: FabricProfile = decode(json).ok()?;
    let resolved = Profile::resolve(&profile, context.snapshot.bases()).ok()?;
    Some((profile, resolved))
}

/// Fields that pods of one job must have alike. What a base brings counts as well.
fn changes(
    (before, old): (&FabricProfile, &Profile),
    (after, new): (&FabricProfile, &Profile),
) -> Vec<&'static str> {
    let env = |p: &Profile| -> Vec<_> {
        p.env.iter().map(|e| (e.name.clone(), e.value.clone(), e.policy)).collect()
    };
    let all = [
        ("rails", old.rails != new.rails),
        ("subsets", old.subsets != new.subsets),
        ("resources", old.resources != new.resources),
        ("env", env(old) != env(new)),
        ("bootstrap", before.spec.bootstrap != after.spec.bootstrap),
    ];
    all.into_iter().filter_map(|(name, changed)| changed.then_some(name)).collect()
}

/// Namespaces that use a profile as far as is known: first those that name it.
fn users<'a>(profile: &Profile, snapshot: &'a Snapshot) -> Vec<&'a str> {
    let known = snapshot.namespaces();
    let (named, others): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|(_, facts)| facts.profile.as_deref() == Some(&*profile.name));
    let admitted = others
        .into_iter()
        .filter(|(name, facts)| facts.mode() == Some(Mode::Enforce) && admits(profile, name, Some(facts)));
    named.into_iter().chain(admitted).map(|(name, _)| name).collect()
}

fn describe(users: &[&str], verb: &str) -> String {
    let shown = users.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    let more = users.len().saturating_sub(MOST_NAMES);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    format!("{} {verb} it ({shown}{more})", count(users.len(), "namespace"))
}
