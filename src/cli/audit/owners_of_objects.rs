//! Who made whom: owner references, followed from a pod to its top owner.

use crate::json::types_of_decoded_fields::{Objects, Text, optional_struct};
use crate::pod::is_multi_node::MultiNodeEvidence;
use crate::pod::templates_by_shape;
use crate::pod::workload_kinds::{self, WherePodsAre};
use crate::report::finding_identity_for_baselines::ObjectName;
use serde::Deserialize;
use std::collections::HashMap;

/// A leader pod of a LeaderWorkerSet owns the StatefulSet of its workers (kubernetes-sigs/lws pkg/controllers).
pub(super) const LEADER_LABEL: &str = "leaderworkerset.sigs.k8s.io/name";

/// Most owners above one another that are followed. A pod of a TrainJob in an AppWrapper has four.
const MAX_STEPS: usize = 16;

/// Longest name, kind and API version of an owner (bytes): each pod has a copy. Kubernetes has no longer ones.
const MAX_TEXT_OF_OWNER: usize = 512;

/// What an audit reads of every object, beside what decisions do.
#[derive(Default, Deserialize)]
pub(super) struct ObjectHead<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    metadata: Option<Metadata<'a>>,
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    status: Option<Status<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    generate_name: Option<Text<'a>>,
    #[serde(borrow, default)]
    namespace: Option<Text<'a>>,
    #[serde(borrow, default)]
    owner_references: Option<Objects<Owner<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner<'a> {
    #[serde(borrow, default)]
    api_version: Option<Text<'a>>,
    #[serde(borrow, default)]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(default)]
    controller: Option<bool>,
}

#[derive(Deserialize)]
struct Status<'a> {
    #[serde(borrow, default)]
    phase: Option<Text<'a>>,
    #[serde(borrow, default)]
    conditions: Option<Objects<Condition<'a>>>,
}

#[derive(Default, Deserialize)]
struct Condition<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    status: Option<Text<'a>>,
}

/// Conditions of jobs that have ended: batch/v1, jobset.x-k8s.io, kubeflow.org, trainer.kubeflow.org.
const ENDED: [&str; 4] = ["Complete", "Completed", "Failed", "Succeeded"];

impl<'a> ObjectHead<'a> {
    /// Reads it from the text of an object; empty where it cannot be read.
    pub(super) fn of(json: &'a str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// The object's own name.
    pub(super) fn object_name(
        &self,
        api_version: &str,
        kind: &str,
        default_namespace: Option<&str>,
    ) -> ObjectName {
        let owned = |text: &Option<Text<'_>>| text.as_deref().filter(|t| !t.is_empty()).map(str::to_owned);
        let metadata = self.metadata.as_ref();
        ObjectName {
            namespace: metadata.and_then(|m| owned(&m.namespace)).or(default_namespace.map(str::to_owned)),
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: metadata.and_then(|m| owned(&m.name)),
            generate_name: metadata.and_then(|m| owned(&m.generate_name)),
        }
    }

    /// The controller that made the object, in the same namespace.
    fn controller(&self, namespace: Option<&str>) -> Option<ObjectName> {
        let owners = self.metadata.as_ref()?.owner_references.as_deref()?;
        let owner = owners.iter().find(|owner| owner.controller == Some(true))?;
        let text = |text: &Option<Text<'_>>| {
            let text = text.as_deref().unwrap_or_default();
            (text.len() <= MAX_TEXT_OF_OWNER).then(|| text.to_owned())
        };
        Some(ObjectName {
            namespace: namespace.map(str::to_owned),
            api_version: text(&owner.api_version)?,
            kind: text(&owner.kind)?,
            name: Some(text(&owner.name)?),
            generate_name: None,
        })
    }

    /// Whether a pod has ended (`status.phase`).
    pub(super) fn is_finished_pod(&self) -> bool {
        let phase = self.status.as_ref().and_then(|status| status.phase.as_deref());
        matches!(phase, Some("Succeeded" | "Failed"))
    }

    /// Whether a job has ended, by its conditions.
    pub(super) fn is_finished_job(&self) -> bool {
        let conditions = self.status.as_ref().and_then(|status| status.conditions.as_deref());
        conditions.unwrap_or_default().iter().any(|condition| {
            condition.status.as_deref() == Some("True")
                && condition.kind.as_deref().is_some_and(|kind| ENDED.contains(&kind))
        })
    }
}

/// An object that may own others.
struct PossibleOwner {
    object: ObjectName,
    owner: Option<ObjectName>,
    /// Whether it has templates: what it makes is decided on with it.
    makes_pods: bool,
    gang: Option<MultiNodeEvidence>,
}

/// Every object that may own others: namespace, group, kind and name.
#[derive(Default)]
pub(super) struct Owners(HashMap<[String; 4], PossibleOwner>);

/// The top owner of an object.
pub(super) struct TopOwner {
    pub(super) object: ObjectName,
    /// Whether the object itself is known, and not only its name.
    pub(super) known: bool,
    /// Whether the templates of an owner show how the object was made.
    pub(super) has_template: bool,
    /// Whether its pods work together, as the owner with the templates says.
    pub(super) gang: Option<MultiNodeEvidence>,
}

fn key(object: &ObjectName) -> [String; 4] {
    let name = object.name.clone().unwrap_or_default();
    [object.namespace.clone().unwrap_or_default(), object.group().to_owned(), object.kind.clone(), name]
}

impl Owners {
    /// Notes an object. Of `json`, metadata is enough: then it makes no pods that would be decided on.
    pub(super) fn add_possible_owner(&mut self, object: &ObjectName, head: &ObjectHead<'_>, json: &str) {
        let owner = head.controller(object.namespace.as_deref());
        let templates = templates_by_shape::find_templates(json);
        let partly = workload_kinds::find_workload_kind(object.group(), &object.kind)
            .is_some_and(|kind| kind.holds != WherePodsAre::Templates);
        let one_maker =
            templates.windows(2).all(|two| matches!(two, [a, b] if a.maker.pointer == b.maker.pointer));
        let gang = match templates.first() {
            Some(template) if one_maker && !template.maker.kind.is_empty() => {
                let maker = &template.maker;
                workload_kinds::multi_node_evidence_of_workload(&maker.group, &maker.kind, maker.json)
            }
            _ if one_maker => {
                workload_kinds::multi_node_evidence_of_workload(object.group(), &object.kind, json)
            }
            _ => None,
        };
        let makes_pods = !templates.is_empty() && !partly;
        self.0.insert(key(object), PossibleOwner { object: object.clone(), owner, makes_pods, gang });
    }

    /// The top owner of an object; itself where it has none. Owners in a ring made nothing, and neither did owners beyond
    /// the limit: anyone who writes an object may name any owner, and an object must not be left out for that.
    pub(super) fn top_owner_of_object(&self, object: &ObjectName, head: &ObjectHead<'_>) -> TopOwner {
        let itself = || TopOwner { object: object.clone(), known: true, has_template: false, gang: None };
        let mut top = itself();
        let mut next = head.controller(object.namespace.as_deref());
        for _ in 0..MAX_STEPS {
            let Some(owner) = next.take() else { return top };
            match self.0.get(&key(&owner)) {
                None => (top.object, top.known) = (owner, false),
                Some(known) => {
                    (top.object, top.known) = (known.object.clone(), true);
                    top.has_template |= known.makes_pods;
                    top.gang = known.gang.clone().or(top.gang);
                    next.clone_from(&known.owner);
                }
            }
        }
        if next.is_none() { top } else { itself() }
    }

    /// The same for an object of which only the name is known.
    pub(super) fn top_owner_if_name_is_known(&self, object: &ObjectName) -> Option<ObjectName> {
        let mut found = None;
        let mut next = self.0.get(&key(object))?.owner.clone();
        for _ in 0..MAX_STEPS {
            let Some(owner) = next.take() else { return found };
            match self.0.get(&key(&owner)) {
                None => found = Some(owner),
                Some(known) => {
                    found = Some(known.object.clone());
                    next.clone_from(&known.owner);
                }
            }
        }
        if next.is_none() { found } else { None }
    }
}
