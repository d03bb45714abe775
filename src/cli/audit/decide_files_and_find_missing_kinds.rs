//! An audit of files: what `kubectl get -A -o yaml` wrote.

use super::decide_and_add_up::{AuditContext, AuditResults};
use super::owners_of_objects::{ObjectHead, Owners};
use crate::cli::input::Loaded;
use crate::cli::input::documents_to_objects::{ObjectSkippedOrUnread, objects_in, unread_value_with_place};
use crate::facts::FactKind;
use crate::manifest::{Document, Part};
use crate::pod::workload_kinds;
use crate::report::UnreadInput;
use crate::report::finding_identity_for_baselines::ObjectName;
use crate::report::unread_by_audit::{
    KindNotKnown, WhyKindIsNotKnown, group_of_api_version, what_is_undecided_without,
};
use crate::snapshot::Snapshot;
use crate::text::count_with_noun;
use std::collections::{BTreeMap, BTreeSet};

/// What the first reading of the files keeps.
#[derive(Default)]
pub(super) struct FirstReadingOfFiles {
    pub(super) owners: Owners,
    /// Group and kind of the objects, with their `apiVersion`.
    kinds: BTreeMap<(String, String), String>,
    /// Namespaces of the objects.
    namespaces: BTreeSet<String>,
}

/// Whether an object without a namespace is in namespace `default`.
fn has_namespace(group: &str, kind: &str) -> bool {
    FactKind::of(group, kind).is_none_or(FactKind::namespaced)
}

fn objects(document: &Document) -> impl Iterator<Item = (ObjectName, &str)> {
    objects_in(document).into_iter().filter_map(|found| {
        let ObjectSkippedOrUnread::Object(object) = found else { return None };
        let namespaced = has_namespace(group_of_api_version(&object.api_version), &object.kind);
        let name = ObjectName {
            namespace: object.namespace.clone().or_else(|| namespaced.then(|| "default".to_owned())),
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
            name: object.name.clone(),
            generate_name: object.generate_name.clone(),
        };
        Some((name, object.json))
    })
}

impl FirstReadingOfFiles {
    pub(super) fn note_owners_kinds_and_namespaces(&mut self, documents: &[Document]) {
        for (object, json) in documents.iter().flat_map(objects) {
            if let Some(namespace) = object.namespace.as_ref().filter(|name| !self.namespaces.contains(*name))
            {
                self.namespaces.insert(namespace.clone());
            }
            let kind = (object.group().to_owned(), object.kind.clone());
            self.kinds.entry(kind).or_insert_with(|| object.api_version.clone());
            if object.kind != "Pod" || json.contains(super::owners_of_objects::LEADER_LABEL) {
                self.owners.add_possible_owner(&object, &ObjectHead::of(json), json);
            }
        }
    }
}

/// Decides on every object of the files. Returns their sums, inputs that have changed since they were read first, and the
/// object whose decision used up the work of the run, if there is one: no object behind it is decided on.
pub(super) fn decide_all_objects(
    judge: &AuditContext<'_>,
    loaded: &Loaded,
) -> (AuditResults, Vec<(UnreadInput, Option<String>)>) {
    let (mut results, mut unread) = (AuditResults::default(), Vec::new());
    for batch in loaded.batches() {
        unread.extend(batch.problems.unread);
        for document in batch.files.iter().flat_map(|file| &file.documents) {
            if let Some(work) = &judge.work {
                work.add_input(document.text.len());
            }
            for (object, json) in objects(document) {
                judge.decide_object_unless_owner_shows_it(&object, json, &mut results);
                if judge.is_work_used_up() {
                    unread.push((error_where_work_is_used_up(document, json), None));
                    return (results, unread);
                }
            }
        }
    }
    (results, unread)
}

/// The error at the object whose decision used up the work of the run.
fn error_where_work_is_used_up(document: &Document, json: &str) -> UnreadInput {
    let message = "the audit ends at this object: the inputs cause far more work than their size explains (many objects \
                   that are compared with each other, or repeated by YAML aliases); audit them in several runs";
    let start = document.range_of_text_in_json(json).map_or(0, |range| range.start);
    unread_value_with_place(document, Part { start, pointer: "" }, ("", ""), message)
}

/// The kinds that the files do not have, although other objects need them.
pub(super) fn kinds_missing_from_files(
    kinds: &BTreeMap<(String, String), String>,
    results: &AuditResults,
    snapshot: &Snapshot,
    has_profile: bool,
) -> Vec<KindNotKnown> {
    let mut gaps = Vec::new();
    let mut missing = |api_version: &str, kind: &str, message: String| {
        gaps.push(KindNotKnown {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            cause: WhyKindIsNotKnown::NotGiven,
            message,
            effect: what_is_undecided_without(api_version, kind),
        });
    };
    let has = |group: &str, kind: &str| kinds.contains_key(&(group.to_owned(), kind.to_owned()));
    let in_scope = results.tallies.workloads.iter().filter(|(_, w)| w.in_scope && w.makes_pods);
    let in_scope: Vec<&ObjectName> = in_scope.map(|(name, _)| name).collect();
    if in_scope.is_empty() {
        return gaps;
    }
    let workloads = count_with_noun(in_scope.len(), "workload");
    let namespaces: BTreeSet<&str> = in_scope.iter().filter_map(|name| name.namespace.as_deref()).collect();
    let unknown: Vec<&str> = namespaces.into_iter().filter(|n| snapshot.namespace(n).is_none()).collect();
    if !unknown.is_empty() {
        let first = unknown.first().copied().unwrap_or_default();
        let message = format!(
            "no Namespace object of {}, such as {first}",
            count_with_noun(unknown.len(), "namespace")
        );
        missing("v1", "Namespace", message);
    }
    if !has("", "Pod") {
        missing("v1", "Pod", format!("the files have {workloads} in scope, and no Pod"));
    }
    if !snapshot.knows_nodes() {
        missing("v1", "Node", format!("the files have {workloads} in scope, and no Node"));
    }
    if !has_profile && snapshot.profiles().next().is_none() {
        let message = format!("the files have {workloads} in scope, and no FabricProfile");
        missing("fabric-admission.dev/v1alpha1", "FabricProfile", message);
    }
    let networks = "NetworkAttachmentDefinition";
    let wanted = snapshot.profiles().any(|profile| !profile.rails.is_empty());
    if wanted && !has("k8s.cni.cncf.io", networks) {
        missing("k8s.cni.cncf.io/v1", networks, "profiles name networks, and the files have none".to_owned());
    }
    for (kind, pods) in &results.with_claims {
        if !has("resource.k8s.io", kind) {
            let message =
                format!("{} or pod templates have claims of this kind", count_with_noun(*pods, "pod"));
            missing("resource.k8s.io/v1", kind, message);
        }
    }
    if let Some(first) = results.unknown_classes.first().filter(|_| !has("resource.k8s.io", "DeviceClass")) {
        let classes = results.unknown_classes.len();
        let message = format!(
            "claims name {}, such as {first}, and the files have none",
            count_with_noun(classes, "class")
        );
        missing("resource.k8s.io/v1", "DeviceClass", message);
    }
    for ((api_version, kind), pods) in &results.without_owner {
        let group = group_of_api_version(api_version);
        // Of other kinds nothing is known that would be decided.
        if workload_kinds::find_workload_kind(group, kind).is_some() && !has(group, kind) {
            missing(api_version, kind, format!("{} of owners of this kind", count_with_noun(*pods, "pod")));
        }
    }
    gaps
}

impl FirstReadingOfFiles {
    /// The namespaces of the objects, and those of which the files have the Namespace object.
    pub(super) fn namespaces_named_or_given<'a>(&'a self, snapshot: &'a Snapshot) -> BTreeSet<&'a str> {
        let named = self.namespaces.iter().map(String::as_str);
        named.chain(snapshot.namespaces().into_keys()).collect()
    }

    /// The owners, and the kinds of the objects.
    pub(super) fn into_parts(self) -> (Owners, BTreeMap<(String, String), String>) {
        (self.owners, self.kinds)
    }
}
