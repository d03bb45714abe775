//! What the launcher of an MPIJob sets for its ranks. `mpirun -x NAME=VALUE` stands in the launcher's command and counts
//! on the workers: so the command is judged as if the workers' container ran it. A launcher without accelerators is
//! looked at in no other way.

use super::pod::Examined;
use super::{PodRequest, WorkloadRequest, decide_pod, gang_of};
use crate::nccl::table::mentions;
use crate::pod::PodView;
use crate::pod::shell::{How, arguments, script};
use crate::pod::template::Template;
use crate::pod::view::Container;
use crate::review::decode::DecodeError;
use crate::rules::{Finding, Severity};
use crate::snapshot::Snapshot;
use crate::text::tree;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Containers of launchers that are looked at; one is usual.
const MAX_CONTAINERS: usize = 4;
/// Longest command that is read (bytes).
const MAX_TEXT: usize = 1 << 20;

/// What is found in the commands of launchers, at their places in the object.
pub(super) fn findings(
    request: WorkloadRequest<'_>,
    templates: &[Template<'_>],
    pods: &[Result<PodView<'_>, DecodeError>],
    examined: &[Option<Examined<'_>>],
    snapshot: &Snapshot,
) -> Vec<Finding> {
    let all = || templates.iter().zip(pods).zip(examined);
    let mut found = Vec::new();
    // A launcher that asks for accelerators is judged as a pod of its own.
    for ((launcher, pod), _) in all().filter(|((t, _), e)| is(t, "Launcher") && e.is_none()) {
        let Ok(pod) = pod else { continue };
        let same_job = |t: &Template<'_>| is(t, "Worker") && t.maker.pointer == launcher.maker.pointer;
        let worker = all().find(|((t, _), e)| same_job(t) && e.is_some());
        let Some(((worker, Ok(view)), _)) = worker else { continue };
        let accelerators = &snapshot.settings().accelerators;
        let ranks =
            view.containers().iter().position(|c| c.resource_names().any(|n| accelerators.contains(n)));
        let starts = pod.containers().iter().enumerate().filter(|(_, c)| starts_ranks(c));
        for (index, container) in starts.take(MAX_CONTAINERS) {
            let of = Launch { request, launcher, index, container, worker, ranks: ranks.unwrap_or(0) };
            found.extend(of.findings(snapshot).unwrap_or_default());
        }
    }
    found
}

fn is(template: &Template<'_>, role: &str) -> bool {
    template.maker.group == "kubeflow.org" && template.maker.kind == "MPIJob" && template.role == role
}

/// Whether a command speaks of NCCL at all.
fn starts_ranks(container: &Container<'_>) -> bool {
    container.shell_text().map(str::len).sum::<usize>() <= MAX_TEXT && container.shell_text().any(mentions)
}

/// One container of a launcher beside the workers it starts ranks on.
struct Launch<'a> {
    request: WorkloadRequest<'a>,
    launcher: &'a Template<'a>,
    index: usize,
    container: &'a Container<'a>,
    worker: &'a Template<'a>,
    /// The container of the ranks on the workers.
    ranks: usize,
}

impl Launch<'_> {
    fn findings(&self, snapshot: &Snapshot) -> Option<Vec<Finding>> {
        let own = tree(self.launcher.json).ok()?;
        let own = own.pointer(&format!("/spec/containers/{}", self.index))?;
        let mut pod = tree(self.worker.json).ok()?;
        let ranks = pod.pointer_mut(&format!("/spec/containers/{}", self.ranks))?.as_object_mut()?;
        // Of the launcher's own variables ranks get those that are passed on; of the workers' none, over ssh.
        let (env, places) = passed_on(own, &self.passed_on());
        ranks.insert("env".to_owned(), Value::Array(env));
        ranks.remove("envFrom");
        for key in ["name", "command", "args"] {
            put(ranks, key, own.get(key));
        }
        let text = pod.to_string();
        let gang = gang_of(self.request, self.worker);
        let request = PodRequest {
            json: &text,
            gang: gang.as_ref(),
            siblings: self.worker.pods,
            ..self.request.of_pod()
        };
        let decision = decide_pod(request, snapshot).ok()?;
        Some(decision.findings.into_iter().filter_map(|f| self.place(f, &places)).collect())
    }

    /// Names of variables that the command hands on from the launcher's own.
    fn passed_on(&self) -> BTreeSet<String> {
        let words: Vec<&str> = self.container.shell_text().collect();
        let direct = arguments(&words).settings;
        let scripts = words.iter().filter(|text| mentions(text)).flat_map(|text| script(text).settings);
        let all = direct.into_iter().chain(scripts);
        all.filter(|setting| setting.how == How::PassesOn).map(|setting| setting.name.to_owned()).collect()
    }

    /// A finding on the launcher's command at its place in the object. What a shell exports may stay with the launcher,
    /// so it is a warning at most.
    fn place(&self, finding: Finding, places: &[usize]) -> Option<Finding> {
        let rest = finding.path.strip_prefix(&format!("/spec/containers/{}/", self.ranks))?;
        let (field, below) = rest.split_once('/').unwrap_or((rest, ""));
        let at = format!("{}/spec/containers/{}", self.launcher.pointer, self.index);
        let path = match field {
            "command" | "args" => format!("{at}/{rest}"),
            "env" => {
                let (number, rest) = below.split_once('/').unwrap_or((below, ""));
                let place = places.get(number.parse::<usize>().ok()?)?;
                format!("{at}/env/{place}/{rest}").trim_end_matches('/').to_owned()
            }
            _ => return None,
        };
        let severity = if finding.severity == Severity::Error { Severity::Warning } else { finding.severity };
        Some(Finding { path, severity, ..finding })
    }
}

fn put(object: &mut Map<String, Value>, key: &str, value: Option<&Value>) {
    match value {
        Some(value) => drop(object.insert(key.to_owned(), value.clone())),
        None => drop(object.remove(key)),
    }
}

/// The variables of a container that have one of some names, with their positions.
fn passed_on(container: &Value, names: &BTreeSet<String>) -> (Vec<Value>, Vec<usize>) {
    let env = container.get("env").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let named =
        |variable: &Value| variable.get("name").and_then(Value::as_str).is_some_and(|n| names.contains(n));
    let kept = env.iter().enumerate().filter(|(_, variable)| named(variable));
    kept.map(|(place, variable)| (variable.clone(), place)).unzip()
}
