//! Decides on an object that makes pods: each of its templates as a pod would be, and all of them together.

use super::pod::Examined;
use super::workload_request::{WorkloadDecision, WorkloadRequest, gang_of};
use super::{Annotated, Decision, Stage, judge, launcher, part};
use crate::json::decode::{self, DecodeError};
use crate::json::values::mapping;
use crate::pod::PodView;
use crate::pod::gang::Gang;
use crate::pod::template::{self, Maker, Template};
use crate::pod::view::Metadata;
use crate::profile::Ignorable;
use crate::rules::suppression::{Limit, set_aside};
use crate::rules::{Finding, WorkloadContext, WorkloadTemplate, check_workload};
use crate::snapshot::Snapshot;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Decides on a workload. Templates of a kind that nobody knows are found by their shape.
#[must_use]
pub fn decide_workload<'a>(request: WorkloadRequest<'a>, snapshot: &Snapshot) -> WorkloadDecision<'a> {
    let templates = template::find(request.json);
    let gangs = gangs(request, &templates);
    let gang = |t: &Template<'_>| gangs.get(t.maker.pointer.as_str()).and_then(Option::as_ref);
    let pods: Vec<Result<PodView<'_>, DecodeError>> =
        templates.iter().map(|t| decode::object(t.json)).collect();
    let examined: Vec<Option<Examined<'_>>> = templates
        .iter()
        .zip(&pods)
        .map(|(t, pod)| Examined::of(pod.as_ref().ok()?, request.of_template(t, gang(t)), snapshot))
        .collect();
    let own = own(request, &templates, &gangs, &pods, &examined, snapshot);
    let decide = |(examined, (t, pod)): (Option<Examined<'_>>, (&Template<'_>, &Result<PodView<'_>, _>))| {
        let pod = pod.as_ref().map_err(Clone::clone)?;
        Ok(examined.map(|e| e.decide(pod, request.of_template(t, gang(t)), snapshot)).unwrap_or_default())
    };
    let decisions: Vec<Result<Decision, DecodeError>> =
        examined.into_iter().zip(templates.iter().zip(&pods)).map(decide).collect();
    drop(pods);
    WorkloadDecision { templates: templates.into_iter().zip(decisions).collect(), own }
}

/// The same for each object that makes pods, by its pointer.
fn gangs(request: WorkloadRequest<'_>, templates: &[Template<'_>]) -> BTreeMap<String, Option<Gang>> {
    let mut gangs = BTreeMap::new();
    for template in templates {
        let pointer = &template.maker.pointer;
        if !gangs.contains_key(pointer) {
            gangs.insert(pointer.clone(), gang_of(request, template));
        }
    }
    gangs
}

/// What is said of the object itself.
fn own<'p>(
    request: WorkloadRequest<'_>,
    templates: &[Template<'_>],
    gangs: &BTreeMap<String, Option<Gang>>,
    pods: &'p [Result<PodView<'p>, DecodeError>],
    examined: &'p [Option<Examined<'p>>],
    snapshot: &Snapshot,
) -> Option<Decision> {
    let has_parts = part::has_parts(request.group, request.kind);
    let (mut in_scope, mut findings) = match has_parts {
        true => part::findings(request, snapshot, decide_workload),
        false => (false, Vec::new()),
    };
    in_scope |= examined.iter().any(Option::is_some);
    let mut suppressed = Vec::new();
    if in_scope {
        findings.extend(together(request, templates, gangs, pods, examined, snapshot));
        findings.extend(launcher::findings(request, templates, pods, examined, snapshot));
        // An error of several templates is let go where the profile of each does.
        let limits = examined.iter().flatten().map(|e| e.limit(snapshot));
        let limit = limits.min_by_key(|l| l.ignorable == Ignorable::Errors);
        let limit = limit.unwrap_or(Limit { ignorable: snapshot.settings().ignorable, profile: None });
        suppressed = set_aside(Annotated::of(request.json).iter(), limit, &mut findings);
    }
    if findings.is_empty() && suppressed.is_empty() && !has_parts {
        return None;
    }
    let mut decision = Decision { in_scope, findings, suppressed, ..Decision::default() };
    judge(&mut decision, Stage::Whole, request.mode, request.opted_in);
    Some(decision)
}

/// The head of an object.
#[derive(Deserialize)]
struct Headed<'a> {
    #[serde(borrow, default, deserialize_with = "mapping")]
    metadata: Option<Metadata<'a>>,
}

/// What the rules on workloads say of each object that makes pods.
fn together<'p>(
    request: WorkloadRequest<'_>,
    templates: &[Template<'_>],
    gangs: &BTreeMap<String, Option<Gang>>,
    pods: &'p [Result<PodView<'p>, DecodeError>],
    examined: &'p [Option<Examined<'p>>],
    snapshot: &Snapshot,
) -> Vec<Finding> {
    let mut makers: BTreeMap<&str, (Maker<'_>, Vec<WorkloadTemplate<'_>>)> = BTreeMap::new();
    for ((template, pod), examined) in templates.iter().zip(pods).zip(examined) {
        let Ok(pod) = pod else { continue };
        let maker = || match template.maker.kind.as_str() {
            "" => {
                let (group, kind) = (request.group.to_owned(), request.kind.to_owned());
                Maker { pointer: String::new(), group, kind, json: request.json }
            }
            _ => template.maker.clone(),
        };
        let (_, views) = makers.entry(&template.maker.pointer).or_insert_with(|| (maker(), Vec::new()));
        views.push(WorkloadTemplate {
            pointer: &template.pointer,
            role: &template.role,
            pods: template.pods,
            pod,
            asked: examined.as_ref().map(|e| e.asked(pod)),
        });
    }
    let mut findings = Vec::new();
    for (maker, templates) in makers.values().filter(|(_, views)| views.iter().any(|v| v.asked.is_some())) {
        // The API server refuses a value that is not a mapping.
        let metadata = serde_json::from_str::<Headed<'_>>(maker.json).ok().and_then(|h| h.metadata);
        findings.extend(check_workload(&WorkloadContext {
            tenant_view: request.tenant_view,
            maker,
            metadata: metadata.as_ref(),
            gang: gangs.get(maker.pointer.as_str()).and_then(Option::as_ref),
            namespace: request.namespace,
            namespace_facts: snapshot.namespace(request.namespace),
            templates,
            snapshot,
        }));
    }
    findings
}
