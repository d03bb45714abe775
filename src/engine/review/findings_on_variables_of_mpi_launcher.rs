//! What the launcher of an MPIJob gives its ranks. `mpirun -x NAME=VALUE` stands in the launcher's command and counts on
//! the workers, and so does what `-x NAME` passes on: these variables are judged as if the workers' container had them. A
//! launcher without accelerators is looked at in no other way.

use super::is_small_enough_to_copy::is_small_enough_to_copy;
use super::template_progress::SeenTemplate;
use super::{PodRequest, WorkloadRequest, decide_pod, gang_of};
use crate::nccl::variable_table::{may_be_in_table, may_set_known_variable};
use crate::pod::pod_fields::Container;
use crate::pod::shell::{Setting, SettingEffect, read_shell_text, read_words_without_shell};
use crate::pod::templates_by_shape::Template;
use crate::pod::workload_kinds::{self, Ranks};
use crate::rules::{Finding, Severity};
use crate::snapshot::Snapshot;
use crate::text::parse_document_within_limit;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Containers of launchers that are looked at in one object; one is usual. For each, the workers are judged once more.
const MAX_CONTAINERS: usize = 2;
/// Longest command that is read (bytes).
const MAX_TEXT: usize = 1 << 18;
/// Variables that are judged (count).
const MAX_VARIABLES: usize = 256;
/// Flags by which launchers hand a variable to their ranks: Open MPI's `-x`, Hydra's `-genv` and `-env`.
const FLAGS_THAT_SET_RANK_VARIABLES: [&[u8]; 5] = [b"-x", b"-genv", b"-env", b"--env", b"-e"];

/// What is found of what launchers hand on, at its places in the object.
pub(super) fn findings(
    request: WorkloadRequest<'_>,
    seen: &[SeenTemplate<'_>],
    snapshot: &Snapshot,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut left = MAX_CONTAINERS;
    let mut jobs: BTreeSet<&str> = BTreeSet::new();
    let mut workers = None;
    // A launcher that asks for accelerators is judged as a pod of its own.
    let not_examined = |s: &&SeenTemplate<'_>| {
        is_template_of_mpi_role(s.template, "Launcher") && s.examined_if_may_get_profile().is_none()
    };
    for SeenTemplate { template: launcher, pod, .. } in seen.iter().filter(not_examined) {
        let Ok(pod) = pod else { continue };
        if left == 0 || !jobs.insert(&launcher.maker.pointer) {
            continue;
        }
        let worker = workers
            .get_or_insert_with(|| first_workers_with_profile_by_job(seen))
            .get(launcher.maker.pointer.as_str());
        let Some(SeenTemplate { template: worker, pod: Ok(view), .. }) = worker else { continue };
        let accelerators = &snapshot.settings().accelerators;
        let ranks =
            view.containers().iter().position(|c| c.resource_names().any(|n| accelerators.contains(n)));
        let starts = pod.containers().iter().enumerate().filter(|(_, c)| command_may_set_known_variable(c));
        for (index, container) in starts.take(left).take_while(|_| !request.deadline.is_over()) {
            let of = Launch { request, launcher, index, container, worker, ranks: ranks.unwrap_or(0) };
            found.extend(of.findings(snapshot).unwrap_or_default());
            left -= 1;
        }
    }
    found
}

/// The first template of workers of each job that has a profile, by the job's pointer.
fn first_workers_with_profile_by_job<'s, 'a>(
    seen: &'s [SeenTemplate<'a>],
) -> HashMap<&'s str, &'s SeenTemplate<'a>> {
    let workers = seen.iter().filter(|s| {
        is_template_of_mpi_role(s.template, "Worker") && s.examined_if_may_get_profile().is_some()
    });
    workers.rev().map(|s| (s.template.maker.pointer.as_str(), s)).collect()
}

fn is_template_of_mpi_role(template: &Template<'_>, role: &str) -> bool {
    let kind = workload_kinds::find_workload_kind(&template.maker.group, &template.maker.kind);
    kind.is_some_and(|kind| kind.ranks == Ranks::OverSsh) && template.role == role
}

/// Whether a command contains an NCCL variable.
fn command_may_set_known_variable(container: &Container<'_>) -> bool {
    container.command_and_argument_words().map(str::len).sum::<usize>() <= MAX_TEXT
        && container.command_and_argument_words().any(may_set_known_variable)
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

/// A variable of the ranks, and where the launcher says its value.
struct RankVariable {
    /// `None` where it is known only when it runs.
    value: Option<String>,
    place: String,
}

impl Launch<'_> {
    fn findings(&self, snapshot: &Snapshot) -> Option<Vec<Finding>> {
        let given = self.variables_handed_to_ranks();
        if given.is_empty() || !is_small_enough_to_copy(self.worker.json) {
            return None;
        }
        let mut pod = parse_document_within_limit(self.worker.json).ok()?;
        let ranks = pod.pointer_mut(&format!("/spec/containers/{}", self.ranks))?.as_object_mut()?;
        // Of the workers' own variables ranks have none: sshd does not hand them on.
        let env = given.iter().map(|(name, given)| match &given.value {
            Some(value) => json!({"name": name, "value": value}),
            None => json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}),
        });
        ranks.insert("env".to_owned(), env.collect());
        for key in ["envFrom", "command", "args"] {
            ranks.remove(key);
        }
        let places: Vec<&str> = given.values().map(|given| given.place.as_str()).collect();
        let text = pod.to_string();
        let gang = gang_of(self.request, self.worker);
        let request = PodRequest {
            gang: gang.as_ref(),
            siblings: self.worker.pods,
            ranks_over_ssh: true,
            writes_patch: false,
            ..self.request.pod_request()
        };
        let decision = decide_pod(&text, request, snapshot).ok()?;
        Some(
            decision
                .findings
                .into_iter()
                .filter_map(|f| self.finding_at_launcher_as_warning(f, &places))
                .collect(),
        )
    }

    /// What reaches the ranks, by name; what is said last counts.
    fn variables_handed_to_ranks(&self) -> BTreeMap<String, RankVariable> {
        let words: Vec<&str> = self.container.command_and_argument_words().collect();
        let mut of = Settings { launch: self, set: BTreeMap::new(), handed: BTreeMap::new() };
        let direct = read_words_without_shell(&words).settings;
        let taken: BTreeSet<usize> = direct.iter().map(|setting| setting.at).collect();
        for setting in direct {
            let before = setting.at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or_default();
            let word = words.get(setting.at).copied().unwrap_or_default();
            of.record_for_launcher_or_ranks(setting.at, &setting, before.as_bytes(), word);
        }
        for (number, text) in words.iter().enumerate() {
            if !taken.contains(&number) && text.contains([' ', '\n', ';']) && may_set_known_variable(text) {
                for setting in read_shell_text(text, may_be_in_table).settings {
                    let start = setting.at.saturating_sub(24);
                    let before = text.as_bytes().get(start..setting.at).unwrap_or_default();
                    of.record_for_launcher_or_ranks(
                        number,
                        &setting,
                        before,
                        text.get(setting.at..).unwrap_or_default(),
                    );
                }
            }
        }
        of.handed
    }

    /// A variable of the launcher's `env`.
    fn variable_of_launcher_env(&self, name: &str) -> Option<RankVariable> {
        let (at, entry) = self.container.last_entry_of_variable(name)?;
        Some(RankVariable { value: entry.literal_or_empty().map(str::to_owned), place: format!("env/{at}") })
    }

    /// Where an element of `command` and `args` stands.
    fn word(&self, number: usize) -> String {
        let command = self.container.command.as_ref().map_or(0, |list| list.0.len());
        match number.checked_sub(command) {
            Some(number) => format!("args/{number}"),
            None => format!("command/{number}"),
        }
    }

    /// A finding on a variable at the place where the launcher says it. What a launcher does with its flags is its own
    /// affair, so it is a warning at most.
    fn finding_at_launcher_as_warning(&self, finding: Finding, places: &[&str]) -> Option<Finding> {
        let rest = finding.path.strip_prefix(&format!("/spec/containers/{}/env/", self.ranks))?;
        let number = rest.split('/').next()?.parse::<usize>().ok()?;
        let at = format!("{}/spec/containers/{}", self.launcher.pointer, self.index);
        let path = format!("{at}/{}", places.get(number)?);
        let because = match finding.severity {
            Severity::Error => Some("the launcher sets it, and its own flags may change what the ranks get"),
            Severity::Warning | Severity::Info => finding.because,
        };
        let severity = finding.severity.min(Severity::Warning);
        Some(Finding { path, severity, because, spot: None, ..finding })
    }
}

/// What a command does with variables of NCCL, read from the first word to the last.
struct Settings<'a> {
    launch: &'a Launch<'a>,
    /// Those of the launcher itself.
    set: BTreeMap<String, RankVariable>,
    /// Those of the ranks.
    handed: BTreeMap<String, RankVariable>,
}

impl Settings<'_> {
    fn record_for_launcher_or_ranks(
        &mut self,
        number: usize,
        setting: &Setting<'_>,
        before: &[u8],
        word: &str,
    ) {
        if !may_be_in_table(setting.name) || self.set.len().max(self.handed.len()) >= MAX_VARIABLES {
            return;
        }
        let name = setting.name.to_owned();
        let value = setting.value.as_ref().map(|value| value.clone().into_owned());
        let given = RankVariable { value, place: self.launch.word(number) };
        let flag = before.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        let by_flag = FLAGS_THAT_SET_RANK_VARIABLES.contains(&flag)
            || word.starts_with("-x=")
            || word.starts_with("--env=");
        match setting.how {
            SettingEffect::Sets if by_flag => drop(self.handed.insert(name, given)),
            SettingEffect::Sets | SettingEffect::Default => drop(self.set.insert(name, given)),
            SettingEffect::Unsets => drop(self.set.remove(&name)),
            SettingEffect::PassesOn => {
                if let Some(given) =
                    self.set.remove(&name).or_else(|| self.launch.variable_of_launcher_env(&name))
                {
                    self.handed.insert(name, given);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
