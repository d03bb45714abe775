//! Finds the pod templates inside an object, by shape: an object under some key that holds `spec.containers` with at
//! least one container that names an image. That covers the workload kinds of Kubernetes, Kubeflow, JobSet,
//! LeaderWorkerSet, Volcano, KubeRay and unknown ones. The objects around a template show how many pods are created
//! from it, and their role.

use super::limits_of_template_search::{
    MAX_BARE_SPECS, MAX_DEPTH, MAX_MAKERS, MAX_NAME, MAX_NESTED, MAX_PARTS, MAX_POINTER, MAX_READ,
    MAX_TEMPLATES, PartNotSearched, SearchLimit,
};
use super::workload_kinds;
use crate::decision_limits::{DecisionLimits, NEVER};
use crate::json::reader;
use crate::json::search_text_for_key::{Members, TextSearchedForKey};
use crate::json::types_of_decoded_fields::{Objects, Text};
use crate::text::json_pointer_token;
use serde::Deserialize;

/// A template inside an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template<'a> {
    /// JSON pointer of the object that holds `metadata` and `spec`.
    pub pointer: String,
    /// Its JSON text.
    pub json: &'a str,
    /// Pods created from it that run concurrently (count); `None` if that cannot be read, or depends on the nodes.
    pub pods: Option<u64>,
    /// The role of its pods among those of other templates, such as `Worker`; empty if there is none.
    pub role: String,
    /// The innermost object with a kind around it: the whole object, or one that it wraps.
    pub maker: PodCreator<'a>,
    /// Whether an object around it is suspended.
    pub suspended: bool,
    /// How its containers come to their `/dev/shm`.
    pub dev_shm: DevShm,
}

/// How the containers of a template come to their `/dev/shm`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum DevShm {
    /// By the mounts of the template.
    #[default]
    AsWritten,
    /// The controller mounts memory there in the first container, if the template mounts nothing.
    ByController,
    /// No pod is created from the template.
    NotRun,
}

/// An object that creates pods.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodCreator<'a> {
    /// JSON pointer; empty for the whole object.
    pub pointer: String,
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Its JSON text.
    pub json: &'a str,
}

/// A pod spec without a template object around it, such as `spec.template` of an LLMInferenceService.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareSpec<'a> {
    /// JSON pointer of the spec.
    pub pointer: String,
    /// Its JSON text.
    pub json: &'a str,
}

/// Facts gathered on the path to a template.
#[derive(Clone)]
struct FactsOnPath<'a> {
    pods: Option<u64>,
    role: String,
    maker: PodCreator<'a>,
    /// Objects with a kind on the path (count).
    makers: usize,
    suspended: bool,
    /// Pods of one group of a LeaderWorkerSet, where its leaders have a template of their own.
    size: Option<u64>,
    dev_shm: DevShm,
}

/// Whether a text may have a pod template: some `containers` is a list. In a schema, such as that of a
/// CustomResourceDefinition, it is an object.
fn may_have_template(json: &str) -> bool {
    json.split("\"containers\"").skip(1).any(|rest| {
        rest.trim_ascii_start()
            .strip_prefix(':')
            .is_some_and(|value| value.trim_ascii_start().starts_with('['))
    })
}

/// Templates in the order of the text, at most one more than `MAX_TEMPLATES`. The object itself is not a template.
#[must_use]
pub fn find_templates(json: &str) -> Vec<Template<'_>> {
    search_templates(json, &NEVER).all
}

/// The same, incomplete if the time is over in between. With the first part that a limit of the search leaves out.
#[must_use]
pub(crate) fn find_templates_within_deadline<'a>(
    json: &'a str,
    deadline: &DecisionLimits<'_>,
) -> (Vec<Template<'a>>, Option<PartNotSearched<'a>>) {
    let found = search_templates(json, deadline);
    (found.all, found.not_searched)
}

fn search_templates<'a, 'd>(json: &'a str, deadline: &'d DecisionLimits<'d>) -> Found<'a, 'd, Template<'a>> {
    let mut found = Found::new(deadline);
    if json.contains("\"containers\"") {
        let way = FactsOnPath {
            pods: Some(1),
            role: String::new(),
            maker: PodCreator::default(),
            makers: 0,
            suspended: false,
            size: None,
            dev_shm: DevShm::AsWritten,
        };
        let text = TextSearchedForKey::new(json, "containers");
        collect_templates(&text, json, text.members(json), &mut String::new(), 0, &way, &mut found);
    }
    found
}

/// Whether an object has pod specs outside of template objects, such as `spec.template.containers` of an
/// LLMInferenceService: there is nothing to annotate.
#[must_use]
pub fn has_bare_pod_spec(json: &str) -> bool {
    !bare_specs(json, false, &NEVER).is_empty()
}

/// Such pod specs, in the order of the text. `unfinished`: containers need no image, since a controller merges them
/// into others.
#[must_use]
pub fn bare_specs<'a>(json: &'a str, unfinished: bool, deadline: &DecisionLimits<'_>) -> Vec<BareSpec<'a>> {
    let mut found = Found::new(deadline);
    if json.contains("\"containers\"") {
        let text = TextSearchedForKey::new(json, "containers");
        collect_bare_specs(&text, json, text.members(json), &mut String::new(), (unfinished, 0), &mut found);
    }
    found.all
}

/// What a search has found, and how many bytes it may still read.
struct Found<'a, 'd, T> {
    all: Vec<T>,
    left: usize,
    /// Objects and lists that may still be searched.
    parts: usize,
    /// Bytes of nested templates so far, and where the last template ends that is not nested (an address).
    nested: usize,
    end: usize,
    not_searched: Option<PartNotSearched<'a>>,
    deadline: &'d DecisionLimits<'d>,
}

impl<'a, 'd, T> Found<'a, 'd, T> {
    fn new(deadline: &'d DecisionLimits<'d>) -> Self {
        Self {
            all: Vec::new(),
            left: MAX_READ,
            parts: MAX_PARTS,
            nested: 0,
            end: 0,
            not_searched: None,
            deadline,
        }
    }

    /// Whether to search a part at a depth.
    fn spend_bytes_of_search(
        &mut self,
        text: &TextSearchedForKey<'a>,
        json: &'a str,
        pointer: &str,
        depth: usize,
    ) -> bool {
        if self.all.len() > MAX_TEMPLATES || self.deadline.is_over() {
            return false;
        }
        // Long objects and lists inside count when they are searched.
        let left = self.left.checked_sub(text.length_without_long_containers(json));
        self.left = left.unwrap_or_default();
        let parts = self.parts.checked_sub(1);
        self.parts = parts.unwrap_or_default();
        let limit = match left.and(parts) {
            _ if depth > MAX_DEPTH => SearchLimit::Depth,
            _ if left.is_none() => SearchLimit::Length,
            None => SearchLimit::Parts,
            Some(_) => return true,
        };
        self.note_part_not_searched(json, pointer, limit);
        false
    }

    /// The members of an object that is about to be searched. Those of a part that is not searched are not needed.
    fn members_while_parts_are_left(
        &self,
        text: &TextSearchedForKey<'a>,
        object: &'a str,
    ) -> Option<Members<'a>> {
        if self.parts == 0 { None } else { text.members(object) }
    }

    /// Whether to take a template, which comes behind those around it.
    fn spend_bytes_of_nested_templates(&mut self, json: &'a str, pointer: &str) -> bool {
        let start = json.as_ptr().addr();
        if start >= self.end {
            self.end = start + json.len();
            return true;
        }
        self.nested = self.nested.saturating_add(json.len());
        if self.nested > MAX_NESTED {
            self.note_part_not_searched(json, pointer, SearchLimit::Nested);
        }
        self.nested <= MAX_NESTED
    }

    fn note_part_not_searched(&mut self, json: &'a str, pointer: &str, limit: SearchLimit) {
        if self.not_searched.is_none() && may_have_template(json) {
            self.not_searched = Some(PartNotSearched { pointer: pointer.to_owned(), json, limit });
        }
    }
}

fn with_longer_pointer<R>(pointer: &mut String, step: &str, go: impl FnOnce(&mut String) -> R) -> R {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(step);
    let result = go(pointer);
    pointer.truncate(length);
    result
}

/// Searches a value; `object` has its members if it is an object.
fn collect_templates<'a>(
    text: &TextSearchedForKey<'a>,
    json: &'a str,
    object: Option<Members<'a>>,
    pointer: &mut String,
    depth: usize,
    way: &FactsOnPath<'a>,
    found: &mut Found<'a, '_, Template<'a>>,
) {
    if !found.spend_bytes_of_search(text, json, pointer, depth) {
        return;
    }
    if let Some(object) = object {
        let mut spec = object.get("spec").and_then(|spec| text.members(spec));
        // Its containers are read to find out whether it is one.
        let containers = spec.as_ref().and_then(|spec| spec.get("containers")).map_or(0, str::len);
        found.left = found.left.saturating_sub(containers);
        let is_template = depth > 0 && spec.as_ref().is_some_and(|spec| is_pod_spec(spec, false));
        if is_template {
            if !found.spend_bytes_of_nested_templates(json, pointer) {
                return;
            }
            found.all.push(Template {
                pointer: pointer.clone(),
                json,
                pods: way.pods,
                role: way.role.clone(),
                maker: way.maker.clone(),
                suspended: way.suspended,
                dev_shm: way.dev_shm,
            });
        }
        // Fields that a kind does not have may make its object look like a template. An AppWrapper keeps them, and the Job
        // that it creates is without them. So the rest of a template is searched as well.
        let only_containers = is_template
            && spec.as_ref().is_some_and(|spec| !spec.iter().any(|(_, value)| text.has_key(value)));
        let way = way.facts_inside_object(text, &object, json, pointer);
        for (key, value) in object.iter() {
            // Most members lead to no template, and need no path.
            let short = key.len() <= MAX_NAME && pointer.len() + key.len() <= MAX_POINTER;
            if !text.has_key(value) || only_containers && key == "spec" {
                continue;
            }
            if short {
                let own = way.facts_inside_member(key);
                let inner = if key == "spec" { spec.take() } else { None };
                let inner = inner.or_else(|| found.members_while_parts_are_left(text, value));
                with_longer_pointer(pointer, &json_pointer_token(key), |p| {
                    collect_templates(text, value, inner, p, depth + 1, &own, found)
                });
            } else {
                found.note_part_not_searched(value, pointer, SearchLimit::Path);
            }
        }
    } else if let Some(list) = text.elements(json) {
        for (index, value) in list.into_iter().enumerate().filter(|(_, value)| text.has_key(value)) {
            let inner = found.members_while_parts_are_left(text, value);
            with_longer_pointer(pointer, &index.to_string(), |p| {
                collect_templates(text, value, inner, p, depth + 1, way, found)
            });
        }
    }
}

impl<'a> FactsOnPath<'a> {
    /// The path inside an object, by its members.
    fn facts_inside_object(
        &self,
        nested: &TextSearchedForKey<'a>,
        object: &Members<'a>,
        json: &'a str,
        pointer: &str,
    ) -> Self {
        let mut way = self.clone();
        let raw = |key: &str| object.get(key);
        let short = |t: &&str| t.len() <= MAX_NAME;
        let text = |key: &str| raw(key).filter(short).and_then(|t| serde_json::from_str::<String>(t).ok());
        // A number that cannot be read is unknown; an absent one is 1.
        let number = |key: &str| raw(key).map(|t| t.parse::<u64>().ok());
        let mut times = |factor: Option<u64>| {
            way.pods = way.pods.zip(factor).map(|(pods, factor)| pods.saturating_mul(factor));
        };
        for key in ["replicas", "numOfHosts"] {
            if let Some(factor) = number(key) {
                times(factor);
            }
        }
        // Jobs have it in `spec`, and jobs of the Kubeflow training operator in `spec.runPolicy`.
        let run_policy = || nested.members(raw("runPolicy")?)?.get("suspend");
        // The Jobs of a CronJob are objects of their own, and are suspended one by one.
        way.suspended |= way.maker.kind != "CronJob" && raw("suspend").or_else(run_policy) == Some("true");
        // A Job runs at most `parallelism` pods at once, and never more than it still needs.
        if let Some(parallelism) = number("parallelism") {
            times(parallelism.map(|p| number("completions").flatten().map_or(p, |c| c.min(p))));
        }
        if let (Some(kind), Some(version)) = (text("kind"), text("apiVersion"))
            && way.makers < MAX_MAKERS
        {
            way.makers += 1;
            if workload_kinds::workload_kinds_named(&kind).any(|known| known.one_per_node) {
                way.pods = None;
            }
            let group = version.split_once('/').map_or("", |(group, _)| group).to_owned();
            // Only other objects refer to a PodTemplate, such as a ProvisioningRequest, in which the autoscaler reads what
            // pods will request (kubernetes/autoscaler cluster-autoscaler/apis/provisioningrequest).
            let not_run = group.is_empty() && kind == "PodTemplate";
            way.dev_shm = if not_run { DevShm::NotRun } else { DevShm::AsWritten };
            way.maker = PodCreator { pointer: pointer.to_owned(), group, kind, json };
        }
        // KubeRay mounts memory for the object store, unless that has a place of its own (ray-project/kuberay
        // ray-operator/controllers/ray/common/pod.go, v1.7.0: `addEmptyDir`).
        if raw("rayStartParams")
            .and_then(|p| nested.members(p))
            .is_some_and(|p| p.get("plasma-directory").is_some())
        {
            way.dev_shm = DevShm::AsWritten;
        }
        if raw("workerTemplate").is_some() {
            match raw("leaderTemplate").is_some_and(|template| template.starts_with('{')) {
                true => match number("size").unwrap_or(Some(1)) {
                    Some(size) => way.size = Some(size),
                    None => way.pods = None,
                },
                // The leaders are created from the workers' template as well.
                false => {
                    let size = number("size").unwrap_or(Some(1));
                    way.pods = way.pods.zip(size).map(|(pods, size)| pods.saturating_mul(size));
                }
            }
        }
        if let Some(name) = text("name").or_else(|| text("groupName")).filter(|n| !n.is_empty()) {
            way.role = name;
        }
        way
    }

    /// The path into one member.
    fn facts_inside_member(&self, key: &str) -> Self {
        let mut way = self.clone();
        if matches!(key, "headGroupSpec" | "workerGroupSpecs") && self.maker.group == "ray.io" {
            way.dev_shm = DevShm::ByController;
        }
        match key {
            "leaderTemplate" => "leader".clone_into(&mut way.role),
            "workerTemplate" => {
                "worker".clone_into(&mut way.role);
                if let Some(size) = self.size {
                    way.pods = self.pods.map(|pods| pods.saturating_mul(size.saturating_sub(1)));
                }
            }
            "headGroupSpec" => "head".clone_into(&mut way.role),
            // Master, Worker, Launcher, Chief, PS, … below pytorchReplicaSpecs and similar fields.
            _ if key.starts_with(|c: char| c.is_ascii_uppercase()) => key.clone_into(&mut way.role),
            _ => {}
        }
        way
    }
}

#[derive(Default, Deserialize)]
struct ContainerShape<'a> {
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    image: Option<Text<'a>>,
}

/// Whether the members are those of a pod spec: some container names an image, or has a name, where that is enough.
fn is_pod_spec(spec: &Members<'_>, unfinished: bool) -> bool {
    let Some(containers) = spec.get("containers") else { return false };
    let given = |text: &Option<Text<'_>>| text.as_deref().is_some_and(|t| !t.is_empty());
    let containers: Option<Objects<ContainerShape<'_>>> = reader::read(containers).ok();
    containers.is_some_and(|c| c.iter().any(|c| given(&c.image) || (unfinished && given(&c.name))))
}

/// Searches a value; `object` has its members if it is an object.
fn collect_bare_specs<'a>(
    text: &TextSearchedForKey<'a>,
    json: &'a str,
    object: Option<Members<'a>>,
    pointer: &mut String,
    (unfinished, depth): (bool, usize),
    found: &mut Found<'a, '_, BareSpec<'a>>,
) {
    if !found.spend_bytes_of_search(text, json, pointer, depth) {
        return;
    }
    if let Some(object) = object {
        for (key, value) in object.iter() {
            let short = key.len() <= MAX_NAME && pointer.len() + key.len() <= MAX_POINTER;
            if !short || found.all.len() >= MAX_BARE_SPECS || !text.has_key(value) {
                continue;
            }
            let inner = found.members_while_parts_are_left(text, value);
            // Keys of pod specs in known kinds; a list of containers elsewhere is something else.
            let names_pod = matches!(key, "template" | "worker" | "prefill" | "podSpec" | "podTemplate");
            let is_spec = names_pod && inner.as_ref().is_some_and(|spec| is_pod_spec(spec, unfinished));
            with_longer_pointer(pointer, &json_pointer_token(key), |p| match is_spec {
                true => found.all.push(BareSpec { pointer: p.clone(), json: value }),
                false => collect_bare_specs(text, value, inner, p, (unfinished, depth + 1), found),
            });
        }
    } else if let Some(list) = text.elements(json) {
        for (index, value) in list.into_iter().enumerate().filter(|(_, value)| text.has_key(value)) {
            let inner = found.members_while_parts_are_left(text, value);
            with_longer_pointer(pointer, &index.to_string(), |p| {
                collect_bare_specs(text, value, inner, p, (unfinished, depth + 1), found)
            });
        }
    }
}
