//! How a profile was found, as JSON (`fabric-admission.dev/why/v1`).

use super::shown_entries_and_rest;
use crate::nodes::ExcludingConstraints;
use crate::plan::UserFabric;
use crate::report::review_json::ResultEntry;
use crate::report::{ReviewedObject, Skipped, UnreadInput};
use crate::resolve::Resolution;
use crate::resolve::explain_resolution::ResolutionExplanation;
use schemars::JsonSchema;
use serde::Serialize;

/// Name and version of the format.
pub const SCHEMA: &str = "fabric-admission.dev/why/v1";

/// The whole document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report<'a> {
    /// Always `fabric-admission.dev/why/v1`.
    schema: &'static str,
    /// One entry for each pod and pod template.
    results: Vec<PodEntry<'a>>,
    /// Objects that were skipped.
    skipped: &'a [Skipped],
    /// Errors of unreadable inputs.
    errors: &'a [UnreadInput],
}

/// One pod or template.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub struct PodEntry<'a> {
    /// The pod's result in a review.
    review: ResultEntry<'a>,
    /// How its profile was chosen; null if the pod requests no accelerator.
    why: Option<HowProfileWasChosen<'a>>,
}

/// How a profile was chosen.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Story")]
pub struct HowProfileWasChosen<'a> {
    /// `profile`, `ambiguous`, `refused`, `outside` (its `when` excludes the pod) or `none`.
    outcome: &'static str,
    /// Candidate profiles: several if ambiguous. At most 20.
    candidates: Vec<&'a str>,
    /// Further candidates that are not listed (count).
    #[serde(rename = "candidatesLeftOut")]
    candidates_left_out: usize,
    /// The profile that the pod was created with, and its profile now; null if the webhook did not change the pod.
    then: Option<InjectedAndCurrentProfile<'a>>,
    /// Steps in their order: up to the deciding step, then the steps that were not needed.
    steps: Vec<StepEntry<'a>>,
    /// Candidate nodes of the pod; null if no nodes are known.
    landing: Option<LandingEntry<'a>>,
    /// Profiles; if there are more than 20, those that the pod gets or could get, and those whose nodes it can run on, before
    /// others.
    profiles: Vec<ProfileEntry<'a>>,
    /// Further profiles that are not listed (count).
    #[serde(rename = "profilesLeftOut")]
    profiles_left_out: usize,
    /// Profiles of the pod's nodes whose `require` and `forbid` hold beside its own profile. At most 20.
    #[serde(rename = "alsoHeld")]
    also_held: &'a [String],
    /// Further such profiles that are not listed (count).
    #[serde(rename = "alsoHeldLeftOut")]
    also_held_left_out: usize,
    /// Networks and units that the pod has; null if nothing was counted.
    counted: Option<CountedEntry<'a>>,
}

/// Networks and units of the pod, counted before anything is planned.
#[derive(Debug, Serialize, JsonSchema)]
struct CountedEntry<'a> {
    /// Rails that the profile has for this pod (count).
    rails: usize,
    /// Attachments to the profile's own networks (count).
    own: usize,
    /// Attachments over the profile's resources through other networks (count).
    #[serde(rename = "standIns")]
    stand_ins: usize,
    /// Units of extended resources other than accelerators.
    units: Vec<UnitsEntry<'a>>,
    /// `incomplete` (missing rails are added), `complete`, `completeByUnits` or `otherFabric` (nothing is added to
    /// networks and units).
    result: &'static str,
    /// Attachments and rails as text.
    attachments: String,
    /// The consequence as text.
    consequence: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UnitsEntry<'a> {
    /// Extended resource.
    resource: &'a str,
    /// Units of the target containers (count).
    targets: i64,
    /// Units of other running containers (count).
    others: i64,
}

impl<'a> From<&'a UserFabric> for CountedEntry<'a> {
    fn from(user_fabric: &'a UserFabric) -> Self {
        let units = user_fabric.units.iter().map(|u| UnitsEntry {
            resource: &u.resource,
            targets: u.targets,
            others: u.others,
        });
        Self {
            rails: user_fabric.rails,
            own: user_fabric.own,
            stand_ins: user_fabric.stand_ins,
            units: units.collect(),
            result: user_fabric.result_word(),
            attachments: user_fabric.attachments_in_words(),
            consequence: user_fabric.result_in_words(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ThenEntry")]
struct InjectedAndCurrentProfile<'a> {
    /// Profile and fingerprint of its settings: `PROFILE@FINGERPRINT`.
    injected: &'a str,
    /// The same for the profile now; null if none applies.
    now: Option<&'a str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StepEntry<'a> {
    /// `flag`, `annotation`, `own`, `nodes`, `selectors`, `namespace` or `cluster`.
    step: &'static str,
    /// The input and result of the step.
    said: &'a str,
    /// Whether this step decided.
    decides: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LandingEntry<'a> {
    /// Known nodes (count).
    nodes: usize,
    /// Candidate nodes (count).
    fits: usize,
    /// Candidate nodes by their profiles. At most 20 groups.
    fabrics: Vec<FabricEntry<'a>>,
    /// Further groups of nodes that are not listed (count).
    #[serde(rename = "fabricsLeftOut")]
    fabrics_left_out: usize,
    /// Reasons why the other nodes are excluded. At most 20.
    dropped: Vec<DroppedEntry<'a>>,
    /// Further reasons that are not listed (count).
    #[serde(rename = "droppedLeftOut")]
    dropped_left_out: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FabricEntry<'a> {
    /// Profiles, the highest priority first; none for nodes without a profile. At most 20.
    profiles: &'a [String],
    /// Further profiles that are not listed (count).
    #[serde(rename = "profilesLeftOut")]
    profiles_left_out: usize,
    /// Nodes (count).
    nodes: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DroppedEntry<'a> {
    /// The taint, selector or affinity.
    by: &'a str,
    /// Nodes (count).
    nodes: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProfileEntry<'a> {
    /// Name.
    name: &'a str,
    /// Whether the pod gets it.
    chosen: bool,
    /// Whether every namespace can use it: it has no `namespaces`.
    open: bool,
    /// Its nodes (count); null if it selects no nodes or no nodes are known.
    nodes: Option<usize>,
    /// Nodes of the profile that are candidates for the pod (count).
    fits: Option<usize>,
    /// Reasons why the other nodes are excluded. At most 20.
    dropped: Vec<DroppedEntry<'a>>,
    /// Further reasons that are not listed (count).
    #[serde(rename = "droppedLeftOut")]
    dropped_left_out: usize,
    /// Changes that the pod or the cluster would need for this profile.
    needs: &'a [String],
}

fn excluded_node_entries(dropped: &ExcludingConstraints) -> Vec<DroppedEntry<'_>> {
    dropped.first.iter().map(|d| DroppedEntry { by: &d.by, nodes: d.nodes }).collect()
}

impl<'a> Report<'a> {
    /// The whole document.
    #[must_use]
    pub fn new(results: Vec<PodEntry<'a>>, skipped: &'a [Skipped], errors: &'a [UnreadInput]) -> Self {
        Self { schema: SCHEMA, results, skipped, errors }
    }
}

impl<'a> PodEntry<'a> {
    /// One result.
    #[must_use]
    pub fn new(reviewed: &'a ReviewedObject) -> Self {
        let user_fabric = reviewed.decision.plan.user_fabric.as_ref();
        let (also_held, also_held_left_out) = shown_entries_and_rest(&reviewed.decision.also_held);
        let story = |why| HowProfileWasChosen {
            counted: user_fabric.map(CountedEntry::from),
            also_held,
            also_held_left_out,
            ..HowProfileWasChosen::from(why)
        };
        Self { review: ResultEntry::from(reviewed), why: reviewed.why.as_ref().map(story) }
    }
}

impl<'a> From<&'a ResolutionExplanation> for HowProfileWasChosen<'a> {
    fn from(why: &'a ResolutionExplanation) -> Self {
        let (outcome, candidates): (_, Vec<&str>) = match &why.resolution {
            Resolution::Profile { .. } => ("profile", Vec::new()),
            Resolution::Ambiguous { candidates, .. } => {
                ("ambiguous", candidates.iter().map(|p| p.name.as_str()).collect())
            }
            Resolution::Refused { .. } => ("refused", Vec::new()),
            Resolution::Outside { profile, .. } => ("outside", vec![profile.name.as_str()]),
            Resolution::NotApplicable { .. } => ("none", Vec::new()),
        };
        let (listed, candidates_left_out) = shown_entries_and_rest(&candidates);
        Self {
            outcome,
            candidates: listed.to_vec(),
            candidates_left_out,
            then: why
                .then
                .as_ref()
                .map(|t| InjectedAndCurrentProfile { injected: &t.mark, now: t.now.as_deref() }),
            steps: why
                .steps
                .iter()
                .map(|s| StepEntry { step: s.name, said: &s.said, decides: s.decides })
                .collect(),
            landing: why.landing.as_ref().map(|l| LandingEntry {
                nodes: l.nodes,
                fits: l.fits,
                fabrics: l
                    .fabrics
                    .shown
                    .iter()
                    .map(|(profiles, nodes)| FabricEntry {
                        profiles: &profiles.shown,
                        profiles_left_out: profiles.more,
                        nodes: *nodes,
                    })
                    .collect(),
                fabrics_left_out: l.fabrics.more,
                dropped: excluded_node_entries(&l.dropped),
                dropped_left_out: l.dropped.more,
            }),
            profiles: why
                .profiles
                .shown
                .iter()
                .map(|p| ProfileEntry {
                    name: &p.name,
                    chosen: p.chosen,
                    open: p.open,
                    nodes: p.nodes.map(|n| n.0),
                    fits: p.nodes.map(|n| n.1),
                    dropped: excluded_node_entries(&p.dropped),
                    dropped_left_out: p.dropped.more,
                    needs: &p.needs,
                })
                .collect(),
            profiles_left_out: why.profiles.more,
            also_held: &[],
            also_held_left_out: 0,
            counted: None,
        }
    }
}
