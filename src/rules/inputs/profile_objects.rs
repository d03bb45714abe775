//! FAB811 and FAB812: FabricProfiles as objects, which their admins write.

use crate::facts::Mode;
use crate::json::decode::object as decode;
use crate::profile::{FabricProfile, Profile};
use crate::resolve::admits;
use crate::rules::{Event, Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use crate::snapshot::Snapshot;
use crate::text::count;

const KINDS: &[(&str, &str)] = &[("fabric-admission.dev", "FabricProfile")];
/// Most namespaces that a finding names.
const MOST_NAMES: usize = 5;

/// FAB811.
pub(super) struct Unusable;

static UNUSABLE: Meta = Meta {
    id: "FAB811",
    severity: Severity::Error,
    summary: "a FabricProfile with a value that cannot work",
    what: "A FabricProfile as the server would use it: with its base folded in, and every value checked. The CRD refuses \
           most mistakes before; what it cannot see is here, such as the name of a base, the interfaces of all rails \
           together, or a word where NCCL reads a number.",
    why: "A profile that cannot be used is not taken over: where it is new, pods that name it are refused; where it was \
          changed, they get what it said before.",
    fix: "Mend the value that the finding names, and apply the profile again.",
    bad: "",
    good: "",
    sources: &[
        "docs/profiles.md",
        "docs/adr/0008-one-profile-type.md: what the CRD checks, and what it cannot",
    ],
    since: "0.1.0",
    kinds: KINDS,
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for Unusable {
    fn meta(&self) -> &'static Meta {
        &UNUSABLE
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let (pointer, message) = match decode::<FabricProfile>(context.json) {
            Err(error) => (error.pointer, error.message),
            Ok(profile) => match Profile::resolve(&profile, context.snapshot.bases()) {
                Err(error) => (error.pointer, error.message),
                Ok(_) => return,
            },
        };
        // A warning has no pointer beside it.
        let field = pointer.trim_start_matches('/').replace('/', ".");
        let at = if field.is_empty() { String::new() } else { format!("{field}: ") };
        findings.add(pointer, format!("the profile cannot be used: {at}{message}"), "mend the value");
    }
}

/// FAB812.
pub(super) struct InUse;

static IN_USE: Meta = Meta {
    id: "FAB812",
    severity: Severity::Warning,
    summary: "a FabricProfile changes or goes while namespaces use it",
    what: "In the webhook, an update that changes the rails, subsets, resources, variables or bootstrap interface of a \
           FabricProfile, or its deletion, while namespaces are known that name it as their default, or that enforce and \
           are admitted by it.",
    why: "A decision is made when a pod is created. Ranks of a running job that restart get the new settings beside peers \
          with the old ones, and NCCL hangs or fails at the next collective. Pods that name a profile that is gone are \
          refused.",
    fix: "Make a profile of another name, let new jobs name it, and delete the old one when its last job has ended.",
    bad: "",
    good: "",
    sources: &["docs/adr/0009-one-profile-a-gang.md: the ranks of one job get one profile"],
    since: "0.1.0",
    kinds: KINDS,
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for InUse {
    fn meta(&self) -> &'static Meta {
        &IN_USE
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Event::Updated { old } = context.event else { return };
        // What could not be used was not in use, and of what cannot be used the old one stays.
        let (Some((before, old)), Some((after, new))) = (read(old, context), read(context.json, context))
        else {
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
                "{} of profile {} would change, which {}",
                changed.join(", "),
                old.name,
                told(&users, "may use")
            ),
            "change by a new name: restarted ranks of running jobs get other settings",
        );
    }
    fn deletion(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some((_, profile)) = read(context.json, context) else { return };
        let users = users(&profile, context.snapshot);
        if users.is_empty() {
            return;
        }
        findings.add(
            "",
            format!("profile {} goes, which {}", profile.name, told(&users, "may use")),
            "pods that name it are refused from now on, and others get no injection by it",
        );
    }
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

fn told(users: &[&str], verb: &str) -> String {
    let shown = users.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    let more = users.len().saturating_sub(MOST_NAMES);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    format!("{} {verb}: {shown}{more}", count(users.len(), "namespace"))
}
