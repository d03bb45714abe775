//! Objects to decisions, and decisions to the sums of their workload. What is decided comes from `review`.

use super::claims_of_audited_pod;
use super::owners_of_objects::{ObjectHead, Owners};
use super::pod_as_created_again::without_node_and_status_if_scheduled;
use crate::decision_limits::{DecisionLimits, RunBudget};
use crate::facts::EnforcementMode;
use crate::json::annotations_of_object::AnnotationsOfObject;
use crate::pod::workload_kinds;
use crate::profile::{INJECTED_ANNOTATION, Profile, injected_mark_of};
use crate::report::audit::sums_per_workload::{DecisionOnPart, PartOfWorkload, SumsOfAllWorkloads};
use crate::report::finding_identity_for_baselines::ObjectName;
use crate::review::{
    Decision, PodRequest, WorkloadRequest, decide_object_that_makes_no_pods, decide_pod, decide_workload,
};
use crate::rules::{ObjectContext, ObjectEvent, does_any_object_rule_run_on_kind};
use crate::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Decides as if every namespace had opted in with mode enforce.
pub(super) struct AuditContext<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// The profile of `--profile`.
    pub(super) profile: Option<&'a Arc<Profile>>,
    /// The only namespace.
    pub(super) namespace: Option<&'a str>,
    /// The date, as 2027-01-31.
    pub(super) today: &'a str,
    pub(super) owners: Owners,
    /// The work that all decisions may take; `None` for a live cluster, whose objects have no YAML aliases.
    pub(super) work: Option<RunBudget>,
}

/// What one list, or the files, gave.
#[derive(Default)]
pub(super) struct AuditResults {
    pub(super) tallies: SumsOfAllWorkloads,
    /// Pods of owners that are known by name only, by `apiVersion` and kind of the owner (count).
    pub(super) without_owner: BTreeMap<(String, String), usize>,
    /// Pods and pod templates with a claim, by the kind that the claim names (count).
    pub(super) with_claims: BTreeMap<&'static str, usize>,
    /// Classes that claims of pods and pod templates name, and of which no one knows what their devices are.
    pub(super) unknown_classes: BTreeSet<String>,
    /// Templates and objects that cannot be read, with the reason.
    pub(super) unreadable: Vec<(ObjectName, String)>,
    /// More of them (count).
    pub(super) unreadable_more: usize,
}

/// Most unreadable objects that are listed.
const MAX_UNREADABLE: usize = 1_000;

impl AuditResults {
    pub(super) fn merge(&mut self, other: Self) {
        self.tallies.merge(other.tallies);
        for (owner, pods) in other.without_owner {
            *self.without_owner.entry(owner).or_default() += pods;
        }
        for (kind, pods) in other.with_claims {
            *self.with_claims.entry(kind).or_default() += pods;
        }
        self.unknown_classes.extend(other.unknown_classes);
        self.unreadable_more += other.unreadable_more;
        for (object, reason) in other.unreadable {
            self.add_unreadable(&object, reason);
        }
    }

    fn add_unreadable(&mut self, object: &ObjectName, reason: String) {
        if self.unreadable.len() < MAX_UNREADABLE {
            self.unreadable.push((object.clone(), reason));
        } else {
            self.unreadable_more += 1;
        }
    }
}

impl AuditContext<'_> {
    /// Whether the decisions have used up their budget. The last one was cut short, and is not counted.
    pub(super) fn is_work_used_up(&self) -> bool {
        self.work.as_ref().is_some_and(RunBudget::is_spent)
    }

    fn deadline_of_decision(&self) -> DecisionLimits<'_> {
        self.work.as_ref().map_or_else(DecisionLimits::without_clock, DecisionLimits::within_run)
    }

    /// Whether the audit is about an object.
    pub(super) fn is_in_audited_namespace(&self, object: &ObjectName) -> bool {
        // The Namespace itself has no namespace.
        let is_namespace = object.kind == "Namespace" && object.group().is_empty();
        let of = if is_namespace { &object.name } else { &object.namespace };
        self.namespace.is_none_or(|only| of.as_deref() == Some(only))
    }

    /// Decides on an object of any kind.
    pub(super) fn decide_object_unless_owner_shows_it(
        &self,
        object: &ObjectName,
        json: &str,
        into: &mut AuditResults,
    ) {
        let head = ObjectHead::of(json);
        if !self.is_in_audited_namespace(object) {
            return;
        }
        if object.group().is_empty() && object.kind == "Pod" {
            return self.decide_pod_into(object, &head, json, into);
        }
        if does_any_object_rule_run_on_kind(object.group(), &object.kind) {
            self.decide_cluster_object_into(object, json, into);
        }
        let namespace = object.namespace.as_deref().unwrap_or("default");
        let top = self.owners.top_owner_of_object(object, &head);
        // The template of its owner shows it already.
        if top.has_template {
            return;
        }
        if head.is_finished_job()
            && workload_kinds::find_workload_kind(object.group(), &object.kind).is_some()
        {
            into.tallies.finished_jobs += 1;
            return;
        }
        let deadline = self.deadline_of_decision();
        let request = WorkloadRequest {
            group: object.group(),
            kind: &object.kind,
            json,
            namespace,
            mode: EnforcementMode::Enforce,
            opted_in: true,
            profile: self.profile,
            as_if_running: false,
            deadline: &deadline,
        };
        let decided = decide_workload(request, self.snapshot);
        let name = name_of_result_line(top.object);
        for (template, decision) in decided.templates {
            match decision {
                Ok(decision) => {
                    self.add_decision_to_workload(
                        &name,
                        PartOfWorkload::Template,
                        template.json,
                        &decision,
                        into,
                    );
                }
                Err(error) => {
                    let reason = format!("{}{}: {}", template.pointer, error.pointer, error.message);
                    into.add_unreadable(object, reason);
                }
            }
        }
        if let Some(own) = decided.own {
            self.add_decision_to_workload(&name, PartOfWorkload::Object, json, &own, into);
        }
    }

    /// Networks, policies and profiles: findings are the administrators'.
    fn decide_cluster_object_into(&self, object: &ObjectName, json: &str, into: &mut AuditResults) {
        let name = (object.group(), object.kind.as_str());
        let deadline = self.deadline_of_decision();
        let context =
            ObjectContext::new(name, json, ObjectEvent::Given, self.snapshot).with_deadline(&deadline);
        let decision = decide_object_that_makes_no_pods(&context, EnforcementMode::Enforce);
        if !decision.findings.is_empty() || !decision.suppressed.is_empty() {
            self.add_decision_to_workload(
                &name_of_result_line(object.clone()),
                PartOfWorkload::ClusterObject,
                json,
                &decision,
                into,
            );
        }
    }

    fn decide_pod_into(
        &self,
        object: &ObjectName,
        head: &ObjectHead<'_>,
        json: &str,
        into: &mut AuditResults,
    ) {
        if head.is_finished_pod() {
            into.tallies.finished_pods += 1;
            return;
        }
        let top = self.owners.top_owner_of_object(object, head);
        let name = name_of_result_line(top.object);
        if !top.known {
            let owner = (name.api_version.clone(), name.kind.clone());
            *into.without_owner.entry(owner).or_default() += 1;
        }
        let json = without_node_and_status_if_scheduled(json);
        let namespace = object.namespace.as_deref().unwrap_or("default");
        let deadline = self.deadline_of_decision();
        let request = PodRequest {
            profile: self.profile,
            gang: top.gang.as_ref(),
            deadline: &deadline,
            may_carry_guids: true,
            ..PodRequest::in_enforcing_namespace(namespace)
        };
        match decide_pod(&json, request, self.snapshot) {
            Ok(decision) => self.add_decision_to_workload(&name, PartOfWorkload::Pod, &json, &decision, into),
            Err(error) => {
                into.add_unreadable(object, format!("{}: {}", error.pointer, error.message));
                let workload = into.tallies.workloads.entry(name).or_default();
                workload.makes_pods = true;
                workload.unreadable_pods += 1;
            }
        }
    }

    fn add_decision_to_workload(
        &self,
        name: &ObjectName,
        seen: PartOfWorkload,
        json: &str,
        decision: &Decision,
        into: &mut AuditResults,
    ) {
        if self.is_work_used_up() {
            return;
        }
        if matches!(seen, PartOfWorkload::Template | PartOfWorkload::Pod) {
            let named = claims_of_audited_pod::objects_named_by_claims(json);
            let namespace = name.namespace.as_deref().unwrap_or("default");
            let mut work = 0;
            for claim in &named {
                let classes = claims_of_audited_pod::unknown_classes(claim, namespace, self.snapshot);
                for class in classes {
                    work += 1;
                    if !into.unknown_classes.contains(class) {
                        into.unknown_classes.insert(class.to_owned());
                    }
                }
            }
            self.deadline_of_decision().spend_work_of_run(|| work);
            let kinds: BTreeSet<&'static str> = named.into_iter().map(|(kind, _)| kind).collect();
            for kind in kinds {
                *into.with_claims.entry(kind).or_default() += 1;
            }
        }
        let containers = if decision.plan.changes.is_empty() { Vec::new() } else { containers(json) };
        let injected = if seen == PartOfWorkload::Pod { injected_mark_of_pod(json) } else { None };
        let injected = injected.as_deref();
        let outdated = injected.is_some_and(|then| self.was_injected_with_other_settings(then, decision));
        let containers = containers.as_slice();
        let decided =
            DecisionOnPart { seen, json, decision, containers, injected, outdated, today: self.today };
        into.tallies.workloads.entry(name.clone()).or_default().add_decision(&decided);
    }

    /// Whether a pod was injected with other settings than a new pod would get.
    fn was_injected_with_other_settings(&self, then: &str, decision: &Decision) -> bool {
        let profile = match (self.profile, &decision.profile) {
            (Some(profile), Some(_)) => Some(profile),
            (None, Some(name)) => self.snapshot.profile(name),
            (_, None) => None,
        };
        profile.is_none_or(|profile| injected_mark_of(profile) != then)
    }
}

/// The name of a line: objects of one `generateName` are the same work, created again and again.
fn name_of_result_line(top: ObjectName) -> ObjectName {
    match top.generate_name {
        Some(_) => ObjectName { name: None, ..top },
        None => top,
    }
}

fn containers(json: &str) -> Vec<String> {
    let pod = serde_json::from_str::<crate::pod::PodView<'_>>(json).unwrap_or_default();
    pod.containers().iter().map(|c| c.name().to_owned()).collect()
}

/// The mark of an injected pod: profile and fingerprint of its settings.
fn injected_mark_of_pod(json: &str) -> Option<String> {
    if !json.contains(INJECTED_ANNOTATION) {
        return None;
    }
    AnnotationsOfObject::read_or_empty(json).get(INJECTED_ANNOTATION).map(str::to_owned)
}
