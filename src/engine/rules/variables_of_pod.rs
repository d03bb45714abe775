//! The variables of NCCL and its companions that the containers of a pod set, read once for all rules: from `env`, from
//! `envFrom` where the ConfigMap is known, from the text of the command and the scripts it runs, and from the plan.
//! Containers that set none themselves are left out, which is nearly all.

use crate::decision_limits::DecisionLimits;
use crate::demands::Subject;
use crate::json::types_of_decoded_fields::{List, Text};
use crate::nccl::variable_table::Variable;
use crate::nccl::variable_table::{find_variable, may_be_in_table, may_set_known_variable};
use crate::plan::pod_with_plan::PodWithPlan;
use crate::pod::limits_and_costs_of_pods::{BYTES_PER_WORD, TEXT_PER_VALUE};
use crate::pod::pod_fields::{Container, Volume};
use crate::pod::shell::{EffectsOnVariables, SettingEffect, read_shell_text, read_words_without_shell};
use crate::pod::variable_sources::EnvFrom;
use crate::profile::Profile;
use crate::resolve::Resolution;
use crate::rules::pointers_in_pod;
use crate::snapshot::Snapshot;
use crate::text::escaped_and_cut;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Where a variable is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhereVariableIsSet<'a> {
    /// By the plan; or by the pod with the profile's value.
    Planned,
    /// In a ConfigMap of `envFrom`, by position.
    EnvFrom(usize, &'a str),
    /// In `env`, by position.
    Env(usize),
    /// In `command` or `args`, by position.
    Text(&'static str, usize),
    /// In a script of a ConfigMap that an element of `command` or `args` names.
    Script(&'static str, usize, &'a str),
}

/// One setting of one variable.
#[derive(Debug, Clone)]
pub(crate) struct VariableSetting<'a> {
    pub(crate) name: Cow<'a, str>,
    /// Value; `None` where it is not known here.
    pub(crate) value: Option<Cow<'a, str>>,
    pub(crate) how: SettingEffect,
    pub(crate) place: WhereVariableIsSet<'a>,
    pub(crate) known: Option<&'static Variable>,
}

/// The variables of one app container.
#[derive(Debug)]
pub(crate) struct ContainerVariables<'a> {
    pub(crate) index: usize,
    pub(crate) container: &'a Container<'a>,
    /// By name; of one name, the setting that counts more is later.
    all: Vec<VariableSetting<'a>>,
    /// A bit for each length that a name has: the rules ask for some sixty names, of which a container sets a few.
    lengths: u64,
    /// Whether variables may come from a place that is not known: a Secret, an unknown ConfigMap, a sourced file.
    pub(crate) open: bool,
    /// Whether the text of its command, image and mounts, and of those before it, is longer than what is read.
    pub(crate) unread: bool,
}

/// Longest path of a mount that is searched (bytes): the kernel opens no longer one (linux include/uapi/linux/limits.h,
/// `PATH_MAX`).
const MAX_PATH: usize = 4096;

/// Most mounts, volumes and words of one container that are searched for scripts.
const MAX_MOUNTS: usize = 64;

/// Most ConfigMaps in `envFrom` of one container that are read.
const MAX_SOURCES: usize = 64;

/// Text of commands, scripts and ConfigMaps that is read in one pod (bytes); the rest is not read, and what it sets is not
/// known.
const MAX_TEXT: usize = 1 << 20;

/// What an entry of a ConfigMap counts for beside its prefix (bytes).
const BYTES_PER_CONFIG_MAP_ENTRY: usize = 64;

/// What a word that is searched for a mount counts for beside its length (bytes).
const BYTES_PER_SEARCHED_WORD: usize = 16;

/// Most containers of a pod whose variables are read (count); real pods have a few.
pub(crate) const MAX_CONTAINERS: usize = 64;

/// The variables of the app containers of a pod.
#[derive(Debug, Default)]
pub(crate) struct VariablesOfPod<'a> {
    /// Of the first containers that set any.
    pub(crate) of_containers: Vec<ContainerVariables<'a>>,
    /// The next container that sets some, which are not read.
    pub(crate) not_read: Option<usize>,
}

/// Longest value of a ConfigMap that is known (bytes). Values of variables are short lists.
const MAX_VALUE: usize = 4 << 10;

/// The text that may still be read.
struct TextBudget<'d> {
    /// In this pod (bytes).
    pod: usize,
    deadline: &'d DecisionLimits<'d>,
}

impl TextBudget<'_> {
    /// Takes the length of a text; not if less is left.
    fn take_length_if_left(&mut self, length: usize) -> bool {
        let left = self.pod.checked_sub(length);
        self.pod = left.unwrap_or(self.pod);
        left.is_some()
    }

    /// The same for the text of a ConfigMap, which all pods of a workload may name.
    fn take_config_map_length_if_left(&mut self, length: usize) -> bool {
        self.take_length_if_left(length) && self.deadline.take_config_map_text(length)
    }
}

/// The variables of every app container that sets any, up to the limit.
pub(crate) fn read_variables_of_app_containers<'a>(
    overlay: PodWithPlan<'a>,
    subject: &'a Subject<'a>,
    resolution: &'a Resolution,
) -> VariablesOfPod<'a> {
    let &Subject { namespace, snapshot, deadline, .. } = subject;
    let profile = resolution.profile().map(|(p, _)| &**p);
    let mut budget = TextBudget { pod: MAX_TEXT, deadline };
    let containers = overlay.pod_before_plan().containers().iter().enumerate();
    let mut variables = containers
        .take_while(|_| !deadline.is_over())
        .filter_map(|(index, container)| {
            let mut variables = ContainerVariables {
                index,
                container,
                all: Vec::new(),
                lengths: 0,
                open: false,
                unread: false,
            };
            variables.add_settings_of_env_from(namespace, snapshot, &mut budget);
            variables.add_settings_of_env(profile);
            variables.add_settings_of_commands(overlay, namespace, snapshot, &mut budget);
            variables.own_settings().next()?;
            let names: usize = container.image_and_mount_paths().map(str::len).sum();
            variables.unread |= !budget.take_length_if_left(names);
            variables.add_planned_settings_and_sort(overlay);
            Some(variables)
        })
        .fuse();
    let of_containers = variables.by_ref().take(MAX_CONTAINERS).collect();
    VariablesOfPod { of_containers, not_read: variables.next().map(|next| next.index) }
}

/// Longest value that is read (bytes). Linux starts no program with a longer variable (`MAX_ARG_STRLEN` is 32 pages, which are
/// 128 KiB on x86), and each rule about the variable reads its value.
const MAX_LENGTH_OF_VARIABLE: usize = 128 << 10;

impl<'a> ContainerVariables<'a> {
    fn push(
        &mut self,
        name: Cow<'a, str>,
        value: Option<Cow<'a, str>>,
        how: SettingEffect,
        place: WhereVariableIsSet<'a>,
    ) {
        let known = find_variable(&name);
        let value = value.filter(|value| value.len() <= MAX_LENGTH_OF_VARIABLE);
        self.lengths |= length_bit(&name);
        if self.all.is_empty() {
            // The container's own and the planned ones.
            self.all.reserve(8);
        }
        self.all.push(VariableSetting { name, value, how, place, known });
    }

    fn add_settings_of_env(&mut self, profile: Option<&Profile>) {
        let container = self.container;
        for (nth, entry) in container.env().iter().enumerate() {
            let Some(name) = entry.name.as_deref().filter(|n| may_be_in_table(n)) else { continue };
            let value = container.expanded_literal(nth).or_else(|| entry.literal_or_empty());
            // A dump of a pod that was injected has the profile's variables as its own.
            let agreed =
                profile.is_some_and(|p| p.env.iter().any(|e| *e.name == *name && value == Some(&*e.value)));
            let place = if agreed { WhereVariableIsSet::Planned } else { WhereVariableIsSet::Env(nth) };
            self.push(Cow::Borrowed(name), value.map(Cow::Borrowed), SettingEffect::Sets, place);
        }
    }

    fn add_planned_settings_and_sort(&mut self, overlay: PodWithPlan<'a>) {
        let own = self.all.len();
        for (name, value) in overlay.planned_env_and_all_conf_lines(self.index, self.container) {
            self.push(
                Cow::Borrowed(name),
                Some(Cow::Borrowed(value)),
                SettingEffect::Sets,
                WhereVariableIsSet::Planned,
            );
        }
        self.all.rotate_left(own);
        self.all.sort_by(|a, b| a.name.cmp(&b.name));
    }

    fn add_settings_of_env_from(
        &mut self,
        namespace: &str,
        snapshot: &'a Snapshot,
        budget: &mut TextBudget<'_>,
    ) {
        let sources = self.container.env_from.as_deref().unwrap_or_default();
        // One ConfigMap can be named again and again.
        self.open |= sources.len() > MAX_SOURCES;
        let named = |source: &'a EnvFrom<'a>| {
            let map = source.config_map_ref.as_ref().and_then(|r| r.name.as_deref());
            (map, source.prefix.as_deref().unwrap_or_default())
        };
        let read = sources.iter().take(MAX_SOURCES).enumerate();
        let last: BTreeMap<_, _> = read.clone().map(|(nth, source)| (named(source), nth)).collect();
        for (nth, source) in read {
            let (map, prefix) = named(source);
            // Of one that is named twice, the later one counts.
            if last.get(&(map, prefix)) != Some(&nth) {
                continue;
            }
            let Some((map, texts)) = map.and_then(|m| Some((m, snapshot.config_map_texts(namespace, m)?)))
            else {
                self.open = true;
                continue;
            };
            // Every rule reads the values, for each container.
            let values = || texts.data.values().map(|value| value.len().min(MAX_VALUE)).sum::<usize>();
            let entries = texts.data.len().saturating_mul(BYTES_PER_CONFIG_MAP_ENTRY + prefix.len());
            // A job can name the map in hundreds of templates, and each has a budget of its own.
            if !budget.take_length_if_left(entries)
                || !budget.take_config_map_length_if_left(entries.saturating_add(values()))
            {
                self.open = true;
                continue;
            }
            for (key, value) in &texts.data {
                let name = if prefix.is_empty() {
                    Cow::Borrowed(key.as_str())
                } else {
                    format!("{prefix}{key}").into()
                };
                if may_be_in_table(&name) {
                    let value = Some(value.as_str()).filter(|value| value.len() <= MAX_VALUE);
                    self.push(
                        name,
                        value.map(Cow::Borrowed),
                        SettingEffect::Sets,
                        WhereVariableIsSet::EnvFrom(nth, map),
                    );
                }
            }
        }
    }

    fn add_settings_of_commands(
        &mut self,
        overlay: PodWithPlan<'a>,
        namespace: &str,
        snapshot: &'a Snapshot,
        budget: &mut TextBudget<'_>,
    ) {
        let parts = self.command_and_argument_words();
        if !budget.take_length_if_left(parts.iter().map(|(_, _, text)| text.len() + BYTES_PER_WORD).sum()) {
            (self.open, self.unread) = (true, true);
            return;
        }
        if parts.iter().any(|(_, _, text)| may_set_known_variable(text)) {
            let words: Vec<&'a str> = parts.iter().map(|(_, _, text)| *text).collect();
            let direct = read_words_without_shell(&words);
            (self.open, self.unread) = (self.open || direct.unread, self.unread || direct.unread);
            // A text with blanks is a script, or the value behind a flag that was read as one word.
            let taken: BTreeSet<usize> = direct.settings.iter().map(|s| s.at).collect();
            for setting in direct.settings {
                if let Some((list, i, _)) = parts.get(setting.at).filter(|_| may_be_in_table(setting.name)) {
                    self.push(
                        Cow::Borrowed(setting.name),
                        setting.value,
                        setting.how,
                        WhereVariableIsSet::Text(list, *i),
                    );
                }
            }
            for (nth, (list, i, text)) in parts.iter().enumerate() {
                if !taken.contains(&nth) && text.contains([' ', '\n', ';']) && may_set_known_variable(text) {
                    self.add_settings_of_script(
                        read_shell_text(text, may_be_in_table),
                        WhereVariableIsSet::Text(list, *i),
                    );
                }
            }
        }
        if snapshot.has_config_map_texts(namespace) {
            self.add_settings_of_mounted_scripts(&parts, overlay, namespace, snapshot, budget);
        }
    }

    /// The elements of `command` and `args`: list, position and text.
    fn command_and_argument_words(&self) -> Vec<(&'static str, usize, &'a str)> {
        let container = self.container;
        let lists = [("command", &container.command), ("args", &container.args)];
        let elements = |(list, texts): (&'static str, &'a Option<List<Text<'a>>>)| {
            let texts = texts.as_ref().map_or(&[][..], |t| &t.0);
            texts.iter().enumerate().map(move |(i, text)| (list, i, &**text))
        };
        let length = |texts: &Option<List<Text<'a>>>| texts.as_ref().map_or(0, |texts| texts.len());
        let mut parts = Vec::with_capacity(length(&container.command) + length(&container.args));
        parts.extend(lists.into_iter().flat_map(elements));
        parts
    }

    fn add_settings_of_script(&mut self, script: EffectsOnVariables<'a>, place: WhereVariableIsSet<'a>) {
        self.open |= !script.sources.is_empty() || script.unread;
        self.unread |= script.unread;
        for setting in script.settings {
            self.push(Cow::Borrowed(setting.name), setting.value, setting.how, place);
        }
    }

    /// Scripts of ConfigMaps that the command names by their path, each once.
    fn add_settings_of_mounted_scripts(
        &mut self,
        parts: &[(&'static str, usize, &'a str)],
        overlay: PodWithPlan<'a>,
        namespace: &str,
        snapshot: &'a Snapshot,
        budget: &mut TextBudget<'_>,
    ) {
        // By script: its last run, whose settings count.
        let mut runs: BTreeMap<(&str, &str), (usize, &'a str)> = BTreeMap::new();
        let parts = parts.get(..MAX_MOUNTS).unwrap_or(parts);
        let searched: usize = parts.iter().map(|(_, _, text)| BYTES_PER_SEARCHED_WORD + text.len()).sum();
        for mount in self.container.volume_mounts().iter().take(MAX_MOUNTS) {
            let path = mount.mount_path.as_deref().map(|p| p.trim_end_matches('/'));
            let Some(path) = path.filter(|p: &&str| (1..=MAX_PATH).contains(&p.len())) else { continue };
            let named = |v: &&Volume<'_>| v.name == mount.name && mount.name.is_some();
            let volume = overlay.pod_before_plan().volumes().iter().take(MAX_MOUNTS).find(named);
            let Some(map) = volume.and_then(|v| v.config_map.as_ref()) else { continue };
            let known = map
                .name
                .as_deref()
                .and_then(|name| Some((name, snapshot.config_map_texts(namespace, name)?)));
            let Some((name, texts)) = known else { continue };
            // Every word is searched for the path of the mount.
            if !budget.take_length_if_left(searched + parts.len() * path.len()) {
                self.open = true;
                return;
            }
            for (run, (_, _, text)) in parts.iter().enumerate() {
                let Some(file) = file_below(text, path, mount.sub_path.as_deref()) else { continue };
                if let Some((key, text)) = map.key_at_path(file).and_then(|k| texts.data.get_key_value(k)) {
                    let last = runs.entry((name, key)).or_insert((run, text));
                    last.0 = last.0.max(run);
                }
            }
        }
        let mut runs: Vec<_> = runs.into_iter().map(|((_, key), (run, text))| (run, key, text)).collect();
        runs.sort_unstable();
        for (run, key, text) in runs {
            let Some((list, i, _)) = parts.get(run) else { continue };
            // A ConfigMap may be a thousand times as long as the pod that runs it.
            let in_time = !budget.deadline.is_over()
                && budget.deadline.take_values_or_cut_short(text.len() / TEXT_PER_VALUE);
            if !in_time || !budget.take_config_map_length_if_left(text.len()) {
                self.open = true;
                return;
            }
            self.add_settings_of_script(
                read_shell_text(text, may_be_in_table),
                WhereVariableIsSet::Script(list, *i, key),
            );
        }
    }

    /// The container's own settings, without the plan's.
    pub(crate) fn own_settings(&self) -> impl Iterator<Item = &VariableSetting<'a>> {
        self.all.iter().filter(|g| g.place != WhereVariableIsSet::Planned)
    }

    /// The container's own settings with a known value.
    pub(crate) fn own_settings_with_known_values(
        &self,
    ) -> impl Iterator<Item = (&VariableSetting<'a>, &str)> {
        let gives = |g: &&VariableSetting<'a>| matches!(g.how, SettingEffect::Sets | SettingEffect::Default);
        self.own_settings().filter(gives).filter_map(|g| Some((g, g.value.as_deref()?)))
    }

    fn settings_of_variable(&self, name: &str) -> &[VariableSetting<'a>] {
        if self.lengths & length_bit(name) == 0 {
            return &[];
        }
        let start = self.all.partition_point(|g| *g.name < *name);
        let rest = self.all.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|g| g.name == name)).unwrap_or_default()
    }

    /// The setting of a variable that counts in the end; `None` where none is known.
    pub(crate) fn setting_that_counts(&self, name: &str) -> Option<&VariableSetting<'a>> {
        self.settings_of_variable(name).iter().fold(None, |last, given| match given.how {
            SettingEffect::Sets => Some(given),
            SettingEffect::Default => last.or(Some(given)),
            SettingEffect::PassesOn => last,
            SettingEffect::Unsets => None,
        })
    }

    /// The same, where the container sets it itself.
    pub(crate) fn own_setting_that_counts(&self, name: &str) -> Option<&VariableSetting<'a>> {
        self.setting_that_counts(name).filter(|g| g.place != WhereVariableIsSet::Planned)
    }

    /// The value that counts, where it is known.
    pub(crate) fn value_that_counts(&self, name: &str) -> Option<&str> {
        self.setting_that_counts(name)?.value.as_deref()
    }

    /// Whether a variable is surely absent.
    pub(crate) fn is_surely_absent(&self, name: &str) -> bool {
        !self.open && self.setting_that_counts(name).is_none()
    }

    /// Pointer of a setting.
    pub(crate) fn pointer_of_setting(&self, given: &VariableSetting<'_>) -> String {
        let base = pointers_in_pod::container(self.index);
        match given.place {
            WhereVariableIsSet::Planned => format!("{base}/env"),
            WhereVariableIsSet::EnvFrom(nth, _) => format!("{base}/envFrom/{nth}"),
            WhereVariableIsSet::Env(nth) => format!("{base}/env/{nth}"),
            WhereVariableIsSet::Text(list, nth) | WhereVariableIsSet::Script(list, nth, _) => {
                format!("{base}/{list}/{nth}")
            }
        }
    }

    /// Where it is set, to follow a variable in a message; nothing for `env`, which the path shows.
    pub(crate) fn place_in_words(&self, given: &VariableSetting<'_>) -> String {
        let of = || escaped_and_cut(self.container.name(), 30);
        match given.place {
            WhereVariableIsSet::Planned | WhereVariableIsSet::Env(_) => String::new(),
            WhereVariableIsSet::EnvFrom(_, map) => format!(" (ConfigMap {:?})", escaped_and_cut(map, 40)),
            WhereVariableIsSet::Text(list, nth) => format!(" ({list}[{nth}] of container {:?})", of()),
            WhereVariableIsSet::Script(list, nth, key) => {
                format!(
                    " (in {}, which {list}[{nth}] of container {:?} runs)",
                    escaped_and_cut(key, 30),
                    of()
                )
            }
        }
    }
}

fn length_bit(name: &str) -> u64 {
    1 << name.len().min(63)
}

/// The path of a file below a mount that a text names first.
fn file_below<'t>(text: &'t str, mount: &str, sub_path: Option<&'t str>) -> Option<&'t str> {
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '"' | '\'' | ')' | '&' | '|');
    let (at, _) = text.match_indices(mount).next()?;
    let rest = text.get(at + mount.len()..)?;
    match sub_path {
        Some(file) => rest.chars().next().is_none_or(ends).then_some(file),
        None => {
            let file = rest.strip_prefix('/')?.split(ends).next()?;
            (!file.is_empty()).then_some(file)
        }
    }
}
