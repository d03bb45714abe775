//! Decides on a pod, or on the template of one.

use super::is_pod_in_scope::scope;
use super::{Decision, PodRequest, Stage, lower_severities_then_sort_and_judge};
use crate::decision_limits;
use crate::demands::claimed_devices::count_devices_of_claim;
use crate::demands::{AcceleratorDemands, Subject};
use crate::json::decode_with_place::DecodeError;
use crate::json::types_of_decoded_fields::{Pairs, Quantities};
use crate::multus;
use crate::nodes::NodeConstraintsOfPod;
use crate::patch::{Patch, write_plan_as_json_patch};
use crate::plan::pod_with_plan::PodWithPlan;
use crate::plan::{Edit, GKE_DOMAIN, Plan, count_variables_in_nccl_conf_of_annotation, plan_profile_for_pod};
use crate::pod::PodView;
use crate::pod::limits_and_costs_of_pods::{
    COST_OF_ANNOTATION, COST_OF_CLAIM, COST_OF_CONTAINER, COST_OF_NETWORK, COST_OF_NODE_CONDITION,
    COST_OF_PROFILE, COST_OF_RESOURCE, COST_OF_RESOURCE_NAME, COST_OF_VARIABLE, DEVICES_PER_VALUE,
    ENTRIES_PER_VALUE, TEXT_PER_VALUE, claims_within_and_beyond_limit,
};
use crate::pod::pod_fields::Container;
use crate::profile::{Ignorable, Profile};
use crate::resolve::explain_resolution::{ResolutionExplanation, explain_resolution};
use crate::resolve::{
    AmbiguityCause, IfUnknownClaimsAreAccelerators, PlannedForNodes, Resolution, profiles_of_nodes_also_held,
    resolve_profile_of_pod, try_unknown_claims_as_accelerators_and_restore_subject,
};
use crate::rules::which_findings_annotations_ignore::{
    HowFarFindingsMayBeIgnored, set_aside_ignored_findings,
};
use crate::rules::{FoundAboutTemplate, PodContext, WhyPodIsChecked, run_rules_on_pod};
use crate::snapshot::Snapshot;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Tells how the profile of a pod was found, for people; `None` where the pod is out of scope.
///
/// # Errors
/// As [`decide_pod`].
pub fn explain_profile_of_pod(
    json: &str,
    request: PodRequest<'_>,
    snapshot: &Snapshot,
) -> Result<Option<ResolutionExplanation>, DecodeError> {
    let pod = PodView::read(json)?;
    let subject = subject_and_scope_if_looked_at(&pod, request, snapshot)
        .filter(|(_, scope)| *scope == WhyPodIsChecked::Injection);
    Ok(subject.map(|(subject, _)| explain_resolution(&subject, request.profile)))
}

/// The facts about a pod, and why it is looked at; `None` where it is not.
fn subject_and_scope_if_looked_at<'a>(
    pod: &'a PodView<'a>,
    request: PodRequest<'a>,
    snapshot: &'a Snapshot,
) -> Option<(Subject<'a>, WhyPodIsChecked)> {
    let demands = AcceleratorDemands::demands_of_pod(pod, request.namespace, snapshot);
    let scope = scope(pod, &demands, request, snapshot)?;
    let known = Subject::with_demands(pod, demands, request.namespace, snapshot);
    let subject = Subject {
        ranks_over_ssh: request.ranks_over_ssh || known.ranks_over_ssh,
        gang: request.gang,
        siblings: request.siblings,
        suspended: request.suspended,
        dev_shm: request.dev_shm,
        deadline: request.deadline,
        ..known
    };
    Some((subject, scope))
}

/// Decides on a pod.
///
/// # Errors
/// [`DecodeError`] when a field has another type than the API gives it; the API server refuses such objects
/// before it asks us.
pub fn decide_pod(json: &str, request: PodRequest<'_>, snapshot: &Snapshot) -> Result<Decision, DecodeError> {
    Ok(decide_decoded_pod(&PodView::read(json)?, request, snapshot))
}

/// Decides on a pod that is decoded.
pub(super) fn decide_decoded_pod(
    pod: &PodView<'_>,
    request: PodRequest<'_>,
    snapshot: &Snapshot,
) -> Decision {
    match ExaminedPod::resolve_and_plan_if_in_scope(pod, request, snapshot) {
        Some(examined) => examined.check_rules_and_decide(request),
        None => Decision::default(),
    }
}

/// A pod that is looked at, with what was found about it and is not judged yet.
pub(super) struct ExaminedPod<'p> {
    scope: WhyPodIsChecked,
    subject: Subject<'p>,
    resolution: Resolution,
    plan: Plan,
    also_held: Vec<Arc<Profile>>,
    if_accelerated: IfUnknownClaimsAreAccelerators,
    not_injected: bool,
}

/// What it takes to look for the profiles of a pod, as a number of planned values. They are looked for once more as if the
/// pod's unknown claims were for accelerators. Only profiles that admit the namespace count, since a limit that depends on
/// others would reveal how many there are.
fn cost_of_profiles(subject: &Subject<'_>, snapshot: &Snapshot) -> usize {
    let times = 1 + usize::from(subject.demands.any_unknown_claim());
    let admitted = snapshot.profiles().filter(|profile| snapshot.admits(profile, subject.namespace));
    admitted.count().saturating_mul(times * COST_OF_PROFILE)
}

impl<'p> ExaminedPod<'p> {
    /// Looks at a pod; `None` where nothing about it matters, or where the decision is cut short.
    pub(super) fn resolve_and_plan_if_in_scope(
        pod: &'p PodView<'p>,
        request: PodRequest<'p>,
        snapshot: &'p Snapshot,
    ) -> Option<Self> {
        let containers = pod.containers().len() + pod.init_containers().len();
        let claims = claims_within_and_beyond_limit(pod).0;
        request.deadline.spend_work_of_run(|| {
            let devices =
                claims.iter().map(|c| count_devices_of_claim(c, request.namespace, snapshot)).sum::<usize>();
            devices.saturating_mul(decision_limits::WORK_OF_CLAIMED_DEVICE)
        });
        if !request.deadline.take_values_or_cut_short(
            containers.saturating_mul(COST_OF_CONTAINER) + claims.len().saturating_mul(COST_OF_CLAIM),
        ) {
            return None;
        }
        let (mut subject, scope) = subject_and_scope_if_looked_at(pod, request, snapshot)?;
        if scope == WhyPodIsChecked::Injection
            && !request.deadline.take_values_or_cut_short(cost_of_profiles(&subject, snapshot))
        {
            return None;
        }
        let resolution = match scope {
            WhyPodIsChecked::Injection => resolve_profile_of_pod(&subject, request.profile),
            WhyPodIsChecked::Rules => Resolution::NotApplicable { candidates: Vec::new(), known: 0 },
        };
        let variables = resolution.profile().map_or(0, |(profile, _)| profile.env.len());
        if !request.deadline.take_values_or_cut_short(containers.saturating_mul(variables)) {
            return None;
        }
        let plan = match resolution.profile() {
            Some((profile, evidence)) if request.opted_in => {
                plan_profile_for_pod(&subject, profile, evidence)
            }
            _ => Plan::default(),
        };
        // A change that this answer does not carry restricts no pod: what was to be added before is there, or is missing.
        let carried = request.stage != Stage::Final && !snapshot.settings().withhold_changes;
        let mut planned = PlannedForNodes::default();
        for change in plan.changes.iter().filter(|_| carried) {
            match &change.edit {
                Edit::NodeRequirement { .. } => planned.placed = true,
                Edit::Quantity { name, .. } => planned.resources.push(name),
                _ => {}
            }
        }
        let also_held = profiles_of_nodes_also_held(&subject, &resolution, &planned);
        let now = (&resolution, also_held.as_slice());
        let if_accelerated = try_unknown_claims_as_accelerators_and_restore_subject(
            &mut subject,
            now,
            request.profile,
            &planned,
        );
        let not_injected = request.stage == Stage::Final
            && lacks_planned_networks_and_resources(&subject, &plan, &resolution);
        let plan = if request.stage == Stage::Final { plan.without_changes() } else { plan };
        Some(Self { scope, subject, resolution, plan, also_held, if_accelerated, not_injected })
    }

    /// Whether the pod is one for a profile, and not only for rules.
    pub(super) fn may_get_profile(&self) -> bool {
        self.scope == WhyPodIsChecked::Injection
    }

    /// Values that are planned, or would be: variables and resources of each target (count).
    pub(super) fn count_planned_values(&self) -> usize {
        let variables = self.resolution.profile().map_or(0, |(profile, _)| profile.env.len());
        match self.plan.withheld {
            None => {
                let changes = self.plan.changes.iter().map(|change| change.edit.cost_in_planned_values());
                changes.sum::<usize>().max(self.plan.targets.len() * variables)
            }
            Some(_) => 1,
        }
    }

    /// What it takes to plan and judge, as a number of planned values.
    pub(super) fn cost_in_planned_values(&self) -> usize {
        let pod = self.subject.pod;
        let containers = || pod.containers().iter().chain(pod.init_containers());
        let resources =
            containers().flat_map(|c| [c.limits(), c.requests()]).flatten().flat_map(Quantities::iter);
        let (entries, names) = resources.fold((0, BTreeSet::new()), |(entries, mut names), (name, _)| {
            names.insert(name);
            (entries + 1, names)
        });
        let resources = names.len() * COST_OF_RESOURCE_NAME + entries * COST_OF_RESOURCE;
        let claims = claims_within_and_beyond_limit(pod).0;
        let (namespace, snapshot) = (self.subject.namespace, self.subject.snapshot);
        let devices: usize = claims.iter().map(|c| count_devices_of_claim(c, namespace, snapshot)).sum();
        let claims = claims.len() * COST_OF_CLAIM + devices / DEVICES_PER_VALUE;
        let variables: usize = containers().map(|c| c.env().len()).sum();
        let commands: usize =
            containers().flat_map(Container::command_and_argument_words).map(str::len).sum();
        let networks = [multus::NETWORKS_ANNOTATION, multus::DEFAULT_NETWORK_ANNOTATION]
            .into_iter()
            .map(|key| pod.annotation(key).map_or(0, str::len))
            .sum::<usize>();
        // Rules read each line for each container that mounts the file.
        let lines = count_variables_in_nccl_conf_of_annotation(pod).saturating_mul(containers().count());
        let listed = self.subject.readable_networks().map_or(0, |networks| networks.items.len());
        let conditions = NodeConstraintsOfPod::count_node_conditions(pod, 0) + pod.tolerations().len();
        let conditions = conditions.saturating_mul(COST_OF_NODE_CONDITION);
        let texts = (commands + networks) / TEXT_PER_VALUE + listed * COST_OF_NETWORK;
        let profiles = self.also_held.len() + self.if_accelerated.holding.len();
        let compared = variables.saturating_mul(profiles) / ENTRIES_PER_VALUE;
        let profiles = cost_of_profiles(&self.subject, self.subject.snapshot);
        let containers = containers().count() * COST_OF_CONTAINER;
        let variables = variables.saturating_mul(COST_OF_VARIABLE);
        let annotations = pod.metadata.as_ref().and_then(|metadata| metadata.annotations.as_ref());
        let annotations = annotations.map_or(0, |all| all.0.len()) * COST_OF_ANNOTATION;
        let parts = [
            containers,
            resources,
            claims,
            variables,
            annotations,
            compared,
            profiles,
            conditions,
            texts,
            lines,
        ];
        parts.into_iter().fold(self.count_planned_values(), usize::saturating_add)
    }

    fn overlay(&self) -> PodWithPlan<'_> {
        PodWithPlan::new(self.subject.pod, &self.plan).with_profiles(self.subject.snapshot.catalog())
    }

    /// What the rules on workloads see of it.
    pub(super) fn view_for_workload_rules(&self) -> Option<FoundAboutTemplate<'_>> {
        self.may_get_profile().then(|| FoundAboutTemplate {
            subject: &self.subject,
            resolution: &self.resolution,
            plan: &self.plan,
            overlay: self.overlay(),
        })
    }

    /// How far the pod's annotations set findings aside: as far as each profile that holds for it allows.
    pub(super) fn limit_of_ignored_findings(&self) -> HowFarFindingsMayBeIgnored<'_> {
        let own = self.resolution.profile().map(|(profile, _)| profile);
        let mut holding = own.into_iter().chain(&self.also_held);
        match holding.find(|p| p.ignorable == Ignorable::Warnings).or(own) {
            Some(profile) => {
                HowFarFindingsMayBeIgnored { ignorable: profile.ignorable, profile: Some(&profile.name) }
            }
            None => HowFarFindingsMayBeIgnored {
                ignorable: self.subject.snapshot.settings().ignorable,
                profile: None,
            },
        }
    }

    /// Judges it by every rule.
    pub(super) fn check_rules_and_decide(self, request: PodRequest<'_>) -> Decision {
        request.deadline.spend_work_of_run(|| {
            self.cost_in_planned_values().saturating_mul(decision_limits::WORK_OF_VALUE)
        });
        let pod = self.subject.pod;
        let overlay = self.overlay();
        let planned = overlay.planned_networks().map(multus::parse_within_limit);
        let context = PodContext {
            deadline: request.deadline,
            scope: self.scope,
            is_final: request.stage == Stage::Final,
            not_injected: self.not_injected,
            before: request.before,
            may_carry_guids: request.may_carry_guids,
            overlay,
            subject: &self.subject,
            plan: &self.plan,
            resolution: &self.resolution,
            also_held: &self.also_held,
            if_accelerated: &self.if_accelerated,
            final_networks: planned.as_ref().or(self.subject.networks.as_ref()),
            variables: OnceCell::new(),
            devices: OnceCell::new(),
            shm_volumes: OnceCell::new(),
            attachments: OnceCell::new(),
        };
        let mut findings = run_rules_on_pod(&context);
        let annotations = pod.metadata.as_ref().and_then(|m| m.annotations.as_ref());
        let annotations = annotations.into_iter().flat_map(Pairs::iter).map(|(key, value)| (key, &**value));
        let suppressed = match request.before {
            None => set_aside_ignored_findings(
                annotations,
                self.limit_of_ignored_findings(),
                &mut findings,
                self.subject.deadline,
            ),
            Some(_) => Vec::new(),
        };
        let patch =
            if request.writes_patch { write_plan_as_json_patch(pod, &self.plan) } else { Patch::default() };
        let mut decision = Decision {
            in_scope: true,
            profile: self.resolution.profile().map(|(p, _)| p.name.clone()),
            also_held: self.also_held.iter().map(|p| p.name.clone()).collect(),
            evidence: (self.scope == WhyPodIsChecked::Injection)
                .then(|| evidence_in_words_for_audience(&self.resolution, self.subject.snapshot)),
            outcome: (self.scope == WhyPodIsChecked::Injection).then(|| self.resolution.outcome()),
            rules_only: self.scope == WhyPodIsChecked::Rules,
            plan: self.plan,
            patch,
            findings,
            suppressed,
            ..Decision::default()
        };
        lower_severities_then_sort_and_judge(&mut decision, request.stage, request.mode, request.opted_in);
        decision
    }
}

/// Whether the profile wants networks or resources on the pod and none of them is there: the sign of a
/// mutating webhook that did not run.
fn lacks_planned_networks_and_resources(subject: &Subject<'_>, plan: &Plan, resolution: &Resolution) -> bool {
    let Some((profile, _)) = resolution.profile() else { return false };
    let attaches = |edit: &Edit| match edit {
        Edit::Networks { .. } | Edit::Quantity { .. } => true,
        Edit::Annotation { key, .. } => key.starts_with(GKE_DOMAIN),
        _ => false,
    };
    let planned = plan.changes.iter().any(|c| attaches(&c.edit));
    planned
        && !subject.pod.containers().iter().any(|c| c.resource_names().any(|name| profile.has_resource(name)))
        && !subject.readable_networks().is_some_and(|networks| {
            networks.items.iter().any(|item| {
                let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
                profile.rails.iter().any(|r| r.network.is_network(namespace, &item.name, subject.namespace))
            })
        })
}

/// Why the pod has its profile, or none. Anyone learns which profile, but not whether nodes for the pod exist.
fn evidence_in_words_for_audience(resolution: &Resolution, snapshot: &Snapshot) -> String {
    let by_nodes = match resolution {
        Resolution::Profile { evidence, .. } => evidence.is_of_nodes(),
        Resolution::Ambiguous { because, .. } => *because != AmbiguityCause::Own,
        _ => false,
    };
    if by_nodes && snapshot.is_for_anyone() {
        let one = matches!(resolution, Resolution::Profile { .. });
        let fits = if one { "the one that fits" } else { "several profiles fit" };
        return format!("{fits} the nodes that the pod asks for");
    }
    match resolution {
        Resolution::Profile { evidence, .. } => evidence.words(),
        Resolution::Refused { reason, .. } => reason.clone(),
        Resolution::Outside { profile, reason, .. } => {
            format!("profile {} does not apply: {reason}", profile.name)
        }
        Resolution::Ambiguous { because, .. } => match because {
            AmbiguityCause::Nodes => "its candidate nodes have several profiles".to_owned(),
            AmbiguityCause::Selectors => {
                "it has no candidate node, and its selectors fit several profiles".to_owned()
            }
            AmbiguityCause::Own => "its resources and networks belong to several profiles".to_owned(),
        },
        Resolution::NotApplicable { .. } => "no profile matches".to_owned(),
    }
}
