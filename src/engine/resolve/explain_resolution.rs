//! The whole explanation of a resolution: each step with its inputs and result, where the pod can land, and what
//! every profile would have needed. Slower than [`resolve_profile_of_pod`] and never on the request path.

use super::words_of_own_resources_and_networks::words_of_own_resources_and_networks;
use super::{
    Conditions, Evidence, MissingNetworkOrResource, Resolution, SinceInjection, Strength,
    missing_networks_and_resources, resolve_profile_of_pod, unmet_condition_of_when,
    without_classes_lacking_accelerators,
};
use crate::decision_limits::NEVER;
use crate::demands::Subject;
use crate::facts::PROFILE_ANNOTATION;
use crate::nodes::{ClassSet, ExcludingConstraints, MAX_SHOWN_CONSTRAINTS, NodeConstraintsOfPod};
use crate::profile::schema::LabelSelector;
use crate::profile::{INJECTED_ANNOTATION, Profile};
use crate::snapshot::{ProfileSet, Snapshot};
use crate::text::{count_with_noun, escaped_and_cut};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A resolution and its explanation.
#[derive(Debug)]
pub struct ResolutionExplanation {
    /// The result.
    pub resolution: Resolution,
    /// The profile that the pod was created with, if we changed it.
    pub then: Option<SinceInjection>,
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// Where the pod can land; `None` if no node is known.
    pub landing: Option<Landing>,
    /// The profiles: those that the pod gets or could get, and then those whose nodes it can run on, before all others.
    pub profiles: ShownEntries<ExplainedProfile>,
    /// Names of the profiles that every namespace can use.
    pub open: ShownEntries<String>,
}

/// Most entries of a list: as many as there are constraints of an [`ExcludingConstraints`].
pub const MAX_LISTED: usize = MAX_SHOWN_CONSTRAINTS;

/// The beginning of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownEntries<T> {
    /// Its first entries.
    pub shown: Vec<T>,
    /// Entries beyond these (count).
    pub more: usize,
}

impl<T> From<Vec<T>> for ShownEntries<T> {
    fn from(mut all: Vec<T>) -> Self {
        let more = all.len().saturating_sub(MAX_LISTED);
        all.truncate(MAX_LISTED);
        all.shrink_to_fit();
        Self { shown: all, more }
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// `flag`, `annotation`, `own`, `nodes`, `selectors`, `namespace` or `cluster`.
    pub name: &'static str,
    /// Its inputs and its result.
    pub said: String,
    /// Whether it decided. Later steps were not run.
    pub decides: bool,
}

/// Nodes by their profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// Nodes known (count).
    pub nodes: usize,
    /// Nodes that the pod can run on (count).
    pub fits: usize,
    /// Of those, the nodes of each set of profiles (count); the empty set is nodes without a profile.
    pub fabrics: ShownEntries<(ShownEntries<String>, usize)>,
    /// Why it cannot run on the others.
    pub dropped: ExcludingConstraints,
}

/// A profile, as seen from the pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedProfile {
    /// Name.
    pub name: String,
    /// Whether the pod gets it.
    pub chosen: bool,
    /// Whether every namespace can use it: it has no `namespaces`.
    pub open: bool,
    /// Its nodes, and those of them that the pod can run on (counts); `None` if it does not name its nodes, or if no
    /// node is known.
    pub nodes: Option<(usize, usize)>,
    /// Why the pod cannot run on its nodes.
    pub dropped: ExcludingConstraints,
    /// What the pod or the cluster would need for it; empty if nothing is missing.
    pub needs: Vec<String>,
}

/// Resolves, and explains each step.
#[must_use]
pub fn explain_resolution(subject: &Subject<'_>, flag: Option<&Arc<Profile>>) -> ResolutionExplanation {
    let snapshot = subject.snapshot;
    let resolution = resolve_profile_of_pod(subject, flag);
    let constraints = NodeConstraintsOfPod::of(subject.pod);
    let view = snapshot.all_nodes();
    let fits = (!view.is_empty()).then(|| snapshot.landing(&constraints, subject.deadline));
    ResolutionExplanation {
        then: subject.pod.annotation(INJECTED_ANNOTATION).map(|mark| SinceInjection::of(mark, &resolution)),
        steps: steps(subject, flag, &resolution, fits.as_ref(), &constraints),
        landing: fits.as_ref().map(|fits| explain_landing(fits, &constraints, subject)),
        profiles: explain_nearest_profiles(subject, &resolution, fits.as_ref(), &constraints),
        open: open(snapshot),
        resolution,
    }
}

/// The profiles that say most about the pod, in the order of their names.
fn explain_nearest_profiles(
    subject: &Subject<'_>,
    resolution: &Resolution,
    fits: Option<&ClassSet>,
    constraints: &NodeConstraintsOfPod<'_>,
) -> ShownEntries<ExplainedProfile> {
    let catalog = subject.snapshot.catalog();
    let chosen = resolution.profile().map(|(profile, _)| profile.name.as_str());
    let named: BTreeSet<&str> = match resolution {
        Resolution::Ambiguous { candidates, .. } => candidates.iter().map(|p| p.name.as_str()).collect(),
        Resolution::Outside { profile, .. } => BTreeSet::from([profile.name.as_str()]),
        _ => BTreeSet::new(),
    };
    let distance = |profile: &Profile| match &profile.name {
        name if chosen == Some(name) => 0,
        name if named.contains(name.as_str()) => 1,
        name if catalog.node_classes_of(name).zip(fits).is_some_and(|(own, fits)| !own.is_disjoint(fits)) => {
            2
        }
        _ => 3,
    };
    let mut all: Vec<_> = subject.snapshot.profiles().enumerate().collect();
    all.sort_by_cached_key(|(_, profile)| distance(profile));
    let ShownEntries { mut shown, more } = ShownEntries::from(all);
    shown.sort_by_key(|(place, _)| *place);
    let explained = shown
        .into_iter()
        .map(|(_, profile)| explain_profile(profile, subject, resolution, fits, constraints));
    ShownEntries { shown: explained.collect(), more }
}

fn open(snapshot: &Snapshot) -> ShownEntries<String> {
    let mut names = snapshot.profiles().filter(|p| p.namespaces.is_none()).map(|p| &p.name);
    let shown = names.by_ref().take(super::MAX_CANDIDATES_SHOWN).cloned().collect();
    ShownEntries { shown, more: names.count() }
}

/// The step that gave a resolution.
fn deciding(resolution: &Resolution) -> Option<&'static str> {
    use super::AmbiguityCause;
    let evidence = match resolution {
        Resolution::Profile { evidence, .. } | Resolution::Outside { evidence, .. } => evidence,
        Resolution::Refused { by, .. } => by,
        Resolution::Ambiguous { because, .. } => {
            return Some(match because {
                AmbiguityCause::Nodes => "nodes",
                AmbiguityCause::Selectors => "selectors",
                AmbiguityCause::Own => "own",
            });
        }
        Resolution::NotApplicable { .. } => return None,
    };
    Some(match evidence {
        Evidence::Flag => "flag",
        Evidence::PodAnnotation => "annotation",
        Evidence::Resource(_) | Evidence::Network(_) => "own",
        Evidence::Nodes | Evidence::Asked | Evidence::Priority => "nodes",
        Evidence::Selectors(_) => "selectors",
        Evidence::NamespaceAnnotation => "namespace",
        Evidence::ClusterDefault => "cluster",
    })
}

fn steps(
    subject: &Subject<'_>,
    flag: Option<&Arc<Profile>>,
    resolution: &Resolution,
    fits: Option<&ClassSet>,
    constraints: &NodeConstraintsOfPod<'_>,
) -> Vec<Step> {
    let (facts, snapshot) = (subject.namespace_facts, subject.snapshot);
    let deciding = deciding(resolution);
    let quoted = |name: Option<&str>| name.map_or("none".to_owned(), |n| escaped_and_cut(n, 80));
    let namespace = match facts {
        None => format!("namespace {} is not known", subject.namespace),
        Some(facts) => {
            format!(
                "default profile of namespace {}: {}",
                subject.namespace,
                quoted(facts.profile.as_deref())
            )
        }
    };
    // Of the nodes that the scheduler would allow, those that have the pod's accelerators.
    let usable = fits.map(|fits| without_classes_lacking_accelerators(fits.clone(), constraints, snapshot));
    let all = [
        ("flag", format!("--profile: {}", quoted(flag.map(|p| p.name.as_str())))),
        (
            "annotation",
            format!("{PROFILE_ANNOTATION}: {}", quoted(subject.pod.annotation(PROFILE_ANNOTATION))),
        ),
        ("own", words_of_own_resources_and_networks(subject)),
        ("nodes", words_of_nodes(fits, usable.as_ref(), constraints.is_partial(), snapshot)),
        ("selectors", selectors(constraints, subject)),
        ("namespace", namespace),
        (
            "cluster",
            format!(
                "default profile of the cluster: {}",
                quoted(snapshot.settings().default_profile.as_deref())
            ),
        ),
    ];
    let mut steps = Vec::new();
    let mut decided = false;
    for (name, said) in all {
        let decides = deciding == Some(name);
        let skipped = name == "flag" && flag.is_none()
            || name == "selectors" && !decides && usable.as_ref().is_some_and(|f| !f.is_clear());
        if !skipped {
            let said = if decided { "not needed".to_owned() } else { said };
            steps.push(Step { name, said, decides });
        }
        decided |= decides;
    }
    steps
}

fn words_of_nodes(
    fits: Option<&ClassSet>,
    usable: Option<&ClassSet>,
    partial: bool,
    snapshot: &Snapshot,
) -> String {
    let (Some(fits), Some(usable)) = (fits, usable) else { return "no node is known".to_owned() };
    let view = snapshot.all_nodes();
    let all = view.count_nodes_of_classes(view.classes().all());
    let mut said = format!(
        "the pod can run on {} of {}",
        view.count_nodes_of_classes(fits),
        count_with_noun(all, "node")
    );
    let ShownEntries { shown, more } = fabrics(fits, snapshot);
    let mut fabrics: Vec<String> = shown
        .into_iter()
        .map(|(names, nodes)| match names.shown.as_slice() {
            [] => format!("no profile ({nodes})"),
            shown if names.more > 0 => format!("{} or {} more ({nodes})", shown.join(" or "), names.more),
            shown => format!("{} ({nodes})", shown.join(" or ")),
        })
        .collect();
    if more > 0 {
        fabrics.push(format!("{more} more profiles or groups of profiles"));
    }
    if !fabrics.is_empty() {
        said.push_str(": ");
        said.push_str(&fabrics.join(", "));
    }
    if partial {
        said.push_str("; the webhook reads only a part of the pod's conditions on nodes, so the pod may be able to run on fewer nodes");
    }
    if usable.is_clear() && !fits.is_clear() {
        said.push_str("; none of these nodes has the accelerators that the pod requests");
    }
    said
}

/// Nodes of a set by the profiles they carry.
fn fabrics(set: &ClassSet, snapshot: &Snapshot) -> ShownEntries<(ShownEntries<String>, usize)> {
    let mut found: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, _, nodes) in snapshot.all_nodes().classes_with_node_counts(set) {
        *found.entry(snapshot.catalog().profile_set_of_class(number)).or_default() += nodes;
    }
    let profiles = |fabric: usize| snapshot.catalog().profile_set(fabric);
    let names = |fabric: usize| profiles(fabric).iter().map(|p| p.name.as_str());
    let mut found: Vec<(usize, usize)> = found.into_iter().collect();
    found.sort_by(|(a, _), (b, _)| order_of_profile_sets(profiles(*a), profiles(*b)));
    let ShownEntries { shown, more } = ShownEntries::from(found);
    let named = shown.into_iter().map(|(fabric, nodes)| {
        let shown: Vec<String> = names(fabric).take(MAX_LISTED).map(str::to_owned).collect();
        (ShownEntries { more: profiles(fabric).len() - shown.len(), shown }, nodes)
    });
    ShownEntries { shown: named.collect(), more }
}

/// By names; the empty set is the last. The sort has a dozen copies of what is inlined, of two kilobytes each.
#[inline(never)]
fn order_of_profile_sets(a: ProfileSet<'_>, b: ProfileSet<'_>) -> Ordering {
    a.is_empty().cmp(&b.is_empty()).then_with(|| a.cmp_names(b))
}

/// The profiles whose nodes the pod's selectors ask for, and those that they leave open.
fn selectors(constraints: &NodeConstraintsOfPod<'_>, subject: &Subject<'_>) -> String {
    let snapshot = subject.snapshot;
    let conditions = Conditions::of(constraints, (snapshot, subject.namespace), &NEVER);
    let fitting: Vec<_> = snapshot
        .profiles()
        .take_while(|_| conditions.may_compare_another(subject.deadline))
        .filter(|p| conditions.may_fit_nodes_of(p))
        .map(|p| (conditions.strength(p), p.name.as_str()))
        .collect();
    let names = |of: Strength| {
        let names: Vec<&str> = fitting.iter().filter(|(s, _)| *s == of).map(|(_, name)| *name).collect();
        let rest = names.len().saturating_sub(super::MAX_CANDIDATES_SHOWN);
        let more = if rest > 0 { format!(", {rest} more") } else { String::new() };
        let shown = names.iter().take(super::MAX_CANDIDATES_SHOWN).copied().collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| format!("{shown}{more}"))
    };
    let said = [
        names(Strength::Nodes).map(|names| format!("ask for the nodes of: {names}")),
        names(Strength::Type).map(|names| format!("ask for an instance type of: {names}")),
        names(Strength::Open).map(|names| format!("do not exclude: {names}")),
    ];
    let asked = names(Strength::Nodes).or_else(|| names(Strength::Type)).is_some();
    let said: Vec<String> = said.into_iter().flatten().collect();
    match said.is_empty() {
        false if !snapshot.knows_nodes() && !asked => {
            format!("the nodes are not known, so the selectors decide nothing (they {})", said.join("; "))
        }
        false => format!("the pod's selectors {}", said.join("; ")),
        true => "the pod's selectors exclude the nodes of every profile".to_owned(),
    }
}

fn explain_landing(
    fits: &ClassSet,
    constraints: &NodeConstraintsOfPod<'_>,
    subject: &Subject<'_>,
) -> Landing {
    let snapshot = subject.snapshot;
    let view = snapshot.all_nodes();
    let all = view.classes().all();
    Landing {
        nodes: view.count_nodes_of_classes(all),
        fits: view.count_nodes_of_classes(fits),
        fabrics: fabrics(fits, snapshot),
        dropped: snapshot.constraints_that_exclude_nodes(constraints, all, subject.deadline),
    }
}

fn explain_profile(
    profile: &Profile,
    subject: &Subject<'_>,
    resolution: &Resolution,
    fits: Option<&ClassSet>,
    constraints: &NodeConstraintsOfPod<'_>,
) -> ExplainedProfile {
    let snapshot = subject.snapshot;
    let view = snapshot.all_nodes();
    let chosen = resolution.profile().is_some_and(|(p, _)| p.name == profile.name);
    let carrying = snapshot.catalog().node_classes_of(&profile.name).filter(|_| fits.is_some());
    let nodes = carrying.zip(fits).map(|(carrying, fits)| {
        let mut both = carrying.clone();
        both.intersect_with(fits);
        (view.count_nodes_of_classes(carrying), view.count_nodes_of_classes(&both))
    });
    let dropped = match (carrying, nodes) {
        (Some(carrying), Some((all, fit))) if fit < all => {
            snapshot.constraints_that_exclude_nodes(constraints, carrying, subject.deadline)
        }
        _ => ExcludingConstraints::default(),
    };
    let mut needs = Vec::new();
    if !subject.snapshot.admits(profile, subject.namespace) {
        let selector: Vec<String> = profile
            .namespaces
            .iter()
            .flat_map(LabelSelector::label_requirements)
            .map(|r| r.to_string())
            .collect();
        needs.push(format!("a namespace with {}", selector.join(", ")));
    }
    if let Some(reason) = unmet_condition_of_when(profile, subject) {
        needs.push(format!("a different pod: {reason}"));
    }
    for missing in missing_networks_and_resources(profile, subject.namespace, snapshot) {
        needs.push(match missing {
            MissingNetworkOrResource::Network(name) => format!("network {name}, which does not exist"),
            MissingNetworkOrResource::Resource(name) => {
                format!("resource {name}, which none of the profile's nodes has")
            }
        });
    }
    match nodes {
        Some((0, _)) => needs.push(format!("nodes with {}", own_selector(profile))),
        Some((_, 0)) => {
            needs.push(format!(
                "a pod that can run on the profile's nodes, which have {}",
                own_selector(profile)
            ));
        }
        Some(_) => {}
        None if !profile.has_node_requirements() => {
            needs.push("an annotation that names it, because the profile selects no nodes".to_owned())
        }
        None => {}
    }
    if !chosen && needs.is_empty() {
        needs.push(match resolution {
            Resolution::Ambiguous { candidates, .. } if candidates.iter().any(|p| p.name == profile.name) => {
                format!(
                    "annotation {PROFILE_ANNOTATION}: {}, or a selector that excludes the other profiles",
                    profile.name
                )
            }
            Resolution::Profile { profile: other, .. } if other.priority > profile.priority => {
                format!("a priority above {}, which is the priority of {}", other.priority, other.name)
            }
            _ => format!("annotation {PROFILE_ANNOTATION}: {}", profile.name),
        });
    }
    ExplainedProfile {
        name: profile.name.clone(),
        chosen,
        open: profile.namespaces.is_none(),
        nodes,
        dropped,
        needs,
    }
}

/// How a profile selects its nodes.
fn own_selector(profile: &Profile) -> String {
    let said: Vec<String> =
        profile.node_selector_else_instance_types().map(|condition| condition.to_string()).collect();
    if said.is_empty() { "any labels".to_owned() } else { said.join(", ") }
}
