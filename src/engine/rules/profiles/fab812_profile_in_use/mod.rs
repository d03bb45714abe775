//! FAB812: FabricProfile changed or deleted while namespaces use it.

use crate::profile::{FabricProfile, Profile};
use crate::resolve::{count_enforcing_namespaces, namespaces_that_use};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::{ObjectContext, ObjectEvent, read_profile_within_limit};
use crate::rules::object_kinds::FABRIC_PROFILE;
use crate::rules::rule_declaration::{Rule, files};
use crate::snapshot::Snapshot;
use crate::text::count_with_noun;

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

/// Most namespaces, and most fields, that a finding names.
const MOST_NAMES: usize = 5;

fn first_names_in_words(names: &[&str]) -> String {
    let shown = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown}, {more} more"),
    }
}

fn check_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let ObjectEvent::Updated { old } = context.event else { return };
    // An invalid profile was not in use, and an invalid change leaves the old one in use.
    let (Some((before, old)), Some((after, new))) =
        (read_and_check_profile(old, context), read_and_check_profile(context.json, context))
    else {
        return;
    };
    let changed = changed_fields_that_matter((&before, &old), (&after, &new));
    let users = Users::of(&old, context.snapshot);
    if changed.is_empty() || users.is_none() {
        return;
    }
    findings.add(
        "/spec",
        format!(
            "profile {:?} changes ({}){}: restarted ranks of running jobs get other settings",
            old.name,
            first_names_in_words(&changed),
            users.words()
        ),
        "Create a profile with another name, and use it for new jobs.",
    );
}

fn check_deletion(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((_, profile)) = read_and_check_profile(context.json, context) else { return };
    let users = Users::of(&profile, context.snapshot);
    if users.is_none() {
        return;
    }
    findings.add(
        "",
        format!(
            "profile {:?} is deleted{}: pods that name it are refused from now on",
            profile.name,
            users.words()
        ),
        "Delete the profile when its last job has ended.",
    );
}

fn read_and_check_profile(json: &str, context: &ObjectContext<'_>) -> Option<(FabricProfile, Profile)> {
    let profile = read_profile_within_limit(json).ok()?;
    let resolved = Profile::checked_with_base(&profile, context.snapshot.bases()).ok()?;
    Some((profile, resolved))
}

/// Fields that decide which pods get the profile, and what these pods get. What a base brings counts as well. Ranks do not
/// differ by `description`, `onMissing`, `ignorable`, `preflight` and `monitor`.
fn changed_fields_that_matter(
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
        ("transport", old.transport != new.transport),
        ("attachment", old.attachment != new.attachment),
        ("gkeNetworks", old.gke_networks != new.gke_networks),
        ("inject", old.inject != new.inject),
        ("memlock", old.memlock != new.memlock),
        ("ncclVersion", old.nccl_version != new.nccl_version),
        ("ncclConf", old.nccl_conf != new.nccl_conf),
        ("files", old.files != new.files),
        ("sharedMemory", old.shm_per_accelerator != new.shm_per_accelerator),
        ("acceleratorsPerNode", old.accelerators_per_node != new.accelerators_per_node),
        ("placement", old.node_affinity != new.node_affinity),
        ("nodeSelector", old.node_selector != new.node_selector),
        ("instanceTypes", old.instance_types != new.instance_types),
        ("priority", old.priority != new.priority),
        ("when", old.when != new.when),
        ("unknownClaims", old.unknown_claims != new.unknown_claims),
        ("namespaces", old.namespaces != new.namespaces),
    ];
    all.into_iter().filter_map(|(name, changed)| changed.then_some(name)).collect()
}

/// Namespaces that may use a profile.
enum Users<'a> {
    /// For those who may know namespaces.
    Named(Vec<&'a str>),
    /// For anyone: their number.
    Counted(usize),
    /// For anyone, of a profile that may be invented. Its selector would be a question about the labels of namespaces.
    Unknown,
}

impl<'a> Users<'a> {
    fn of(profile: &Profile, snapshot: &'a Snapshot) -> Self {
        if !snapshot.is_for_anyone() {
            return Self::Named(namespaces_that_use(profile, snapshot));
        }
        let stored = snapshot.profile(&profile.name).is_some_and(|stored| **stored == *profile);
        match &profile.namespaces {
            _ if stored => Self::Counted(namespaces_that_use(profile, snapshot).len()),
            // Every namespace that enforces, whatever its labels are and whatever profile it names: the caller may have
            // invented the name.
            None => Self::Counted(count_enforcing_namespaces(profile, snapshot)),
            Some(_) => Self::Unknown,
        }
    }

    /// Whether nobody uses it.
    fn is_none(&self) -> bool {
        match self {
            Self::Named(names) => names.is_empty(),
            Self::Counted(number) => *number == 0,
            Self::Unknown => false,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Named(names) => {
                format!(
                    " while {} may use it ({})",
                    count_with_noun(names.len(), "namespace"),
                    first_names_in_words(names)
                )
            }
            Self::Counted(number) => format!(" while {} may use it", count_with_noun(*number, "namespace")),
            Self::Unknown => String::new(),
        }
    }
}
