//! An audit of a live cluster: facts first, then workloads, then pods page by page.

use super::decide_and_add_up::{AuditContext, AuditResults};
use super::owners_of_objects::ObjectHead;
use super::progress::Progress;
use crate::cluster::PageSize;
use crate::cluster::api_discovery_of_served_kinds::{ServedKind, ServedKinds};
use crate::cluster::list_any_kind::{self, ListError, ListEvent, Listing};
use crate::cluster::watched_kinds::WATCHED;
use crate::facts::FactKind;
use crate::pod::workload_kinds::KINDS;
use crate::report::finding_identity_for_baselines::ObjectName;
use crate::report::unread_by_audit::{KindNotKnown, WhyKindIsNotKnown, what_is_undecided_without};
use crate::rules::does_any_object_rule_check_more_than_usability;
use serde_json::value::RawValue;
use std::io;
use std::time::Duration;

/// What was found, and what could not be.
#[derive(Default)]
pub(super) struct ResultsAndGaps {
    pub(super) results: AuditResults,
    pub(super) gaps: Vec<KindNotKnown>,
}

/// One kind to read.
struct Listed {
    api_version: String,
    kind: String,
    listing: Listing,
}

/// Kinds that make objects of other kinds with templates. They are read first, so that an owner is known before what it
/// made.
const KINDS_READ_FIRST: [&str; 4] = ["AppWrapper", "TrainJob", "RayService", "RayJob"];
/// Kinds that objects of other kinds make, in the order in which they make one another.
const KINDS_READ_LAST: [&str; 6] = ["JobSet", "CronJob", "Deployment", "StatefulSet", "Job", "ReplicaSet"];

/// The place of a kind in the order of reading.
fn reading_order_of_kind(kind: &str) -> usize {
    let at = |order: &[&str]| order.iter().position(|known| *known == kind);
    let middle = KINDS_READ_FIRST.len();
    at(&KINDS_READ_FIRST).or_else(|| at(&KINDS_READ_LAST).map(|at| middle + 1 + at)).unwrap_or(middle)
}

/// How lists are asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListRequestLimits {
    /// Sizes of pages.
    pub(super) size: PageSize,
    /// Deadline of each.
    pub(super) deadline: Duration,
}

/// Reads workloads, network objects and pods.
pub(super) async fn read_and_decide(
    client: &kube::Client,
    served: &ServedKinds,
    judge: &mut AuditContext<'_>,
    requests: ListRequestLimits,
    progress: &mut Progress<'_>,
) -> io::Result<ResultsAndGaps> {
    let mut found = ResultsAndGaps::default();
    let namespace = judge.namespace.map(str::to_owned);
    for listed in lists_in_reading_order(served, namespace.as_deref(), requests) {
        let by_name = read_and_decide_kind(client, &listed, judge, &mut found, progress).await?;
        for object in by_name {
            read_object_by_name(client, served, &object, requests.deadline, judge, &mut found).await;
        }
    }
    progress.remove_progress_line()?;
    Ok(found)
}

fn lists_in_reading_order(
    served: &ServedKinds,
    namespace: Option<&str>,
    requests: ListRequestLimits,
) -> Vec<Listed> {
    let ListRequestLimits { size, deadline } = requests;
    let mut all = Vec::new();
    let mut list = |kind: &str, of: ServedKind, metadata_only: bool| {
        // The Namespace itself is an object of the cluster.
        let own = namespace.filter(|_| kind == "Namespace" && of.api_version == "v1");
        if namespace.is_none() || own.is_some() || of.namespaced {
            let query = own.map(|name| format!("fieldSelector=metadata.name%3D{name}")).unwrap_or_default();
            let path = of.path(namespace.filter(|_| of.namespaced));
            let listing = Listing { path, query, metadata_only, size, deadline };
            all.push(Listed { api_version: of.api_version, kind: kind.to_owned(), listing });
        }
    };
    // Rules that only read their objects judge these two kinds as well.
    let read = |kind: FactKind| matches!(kind, FactKind::FabricProfile | FactKind::Namespace);
    for watched in WATCHED
        .iter()
        .filter(|w| does_any_object_rule_check_more_than_usability(w.group, w.name()) || read(w.kind))
    {
        let of = if watched.group.is_empty() {
            Some(ServedKind::core(watched.plural, watched.kind.namespaced()))
        } else {
            served.preferred_version_of_kind(watched.group, watched.name())
        };
        if let Some(of) = of {
            list(watched.name(), of, false);
        }
    }
    let mut makers: Vec<_> = KINDS.iter().collect();
    makers.sort_by_key(|known| reading_order_of_kind(known.kind));
    for known in makers {
        // Pods of a Deployment have a ReplicaSet in between, of which nothing but its owner is needed.
        if let Some(of) = served.preferred_version_of_kind(known.group, known.kind) {
            list(known.kind, of, known.is("apps", "ReplicaSet"));
        }
    }
    list("Pod", ServedKind::core("pods", true), false);
    all
}

/// Reads a kind to its end. Returns the objects of which only the metadata was read, and that no other object made.
async fn read_and_decide_kind(
    client: &kube::Client,
    listed: &Listed,
    judge: &mut AuditContext<'_>,
    found: &mut ResultsAndGaps,
    progress: &mut Progress<'_>,
) -> io::Result<Vec<ObjectName>> {
    // Of a list that begins again, everything so far is dropped: no object counts twice.
    let mut results = AuditResults::default();
    let mut by_name = Vec::new();
    let mut done = 0;
    let mut written = Ok(());
    let mut on = |event: ListEvent<'_>| match event {
        ListEvent::Restarted => {
            (results, done) = (AuditResults::default(), 0);
            by_name.clear();
            let kind = &listed.kind;
            let note = format!(
                "note: {kind}: the list expired on the API server (410); it is read again from its start"
            );
            written = progress.write_line_that_stays(&note);
        }
        ListEvent::Waiting(pause) => {
            let seconds = pause.as_secs();
            written = progress
                .write_line_that_stays(&format!("note: the API server is busy (429); waiting {seconds} s"));
        }
        ListEvent::Page(items, left) => {
            for item in items {
                note_owner_and_decide_or_defer(listed, item, judge, &mut results, &mut by_name);
            }
            done += items.len();
            written = progress.show_count_if_due(&listed.kind, done, left);
        }
    };
    let read = list_any_kind::read_list_page_by_page(client, &listed.listing, &mut on).await;
    written?;
    found.results.merge(results);
    match read {
        Ok(()) | Err(ListError::Absent) => {}
        Err(error) => {
            let cause = if matches!(error, ListError::Forbidden(_)) {
                WhyKindIsNotKnown::Forbidden
            } else {
                WhyKindIsNotKnown::Failed
            };
            found.gaps.push(gap_with_effect(&listed.api_version, &listed.kind, cause, error.to_string()));
        }
    }
    Ok(by_name)
}

fn note_owner_and_decide_or_defer(
    listed: &Listed,
    item: &RawValue,
    judge: &mut AuditContext<'_>,
    results: &mut AuditResults,
    by_name: &mut Vec<ObjectName>,
) {
    let json = item.get();
    let head = ObjectHead::of(json);
    let object = head.object_name(&listed.api_version, &listed.kind, None);
    let is_pod = listed.kind == "Pod";
    if !is_pod || json.contains(super::owners_of_objects::LEADER_LABEL) {
        judge.owners.add_possible_owner(&object, &head, json);
    }
    if listed.listing.metadata_only {
        if judge.owners.top_owner_of_object(&object, &head).object == object {
            by_name.push(object);
        }
        return;
    }
    judge.decide_object_unless_owner_shows_it(&object, json, results);
}

/// An object that is read by its name.
async fn read_object_by_name(
    client: &kube::Client,
    served: &ServedKinds,
    object: &ObjectName,
    deadline: Duration,
    judge: &AuditContext<'_>,
    found: &mut ResultsAndGaps,
) {
    let Some(of) = served.preferred_version_of_kind(object.group(), &object.kind) else { return };
    let name = object.name.clone().unwrap_or_default();
    let path = format!("{}/{name}", of.path(object.namespace.as_deref()));
    match list_any_kind::read_object_as_bytes(client, &path, deadline).await {
        Ok(bytes) => {
            if let Ok(json) = std::str::from_utf8(&bytes) {
                judge.decide_object_unless_owner_shows_it(object, json, &mut found.results);
            }
        }
        // Deleted since it was listed.
        Err(ListError::Absent) => {}
        Err(error) => {
            let known = found.gaps.iter().any(|gap| gap.is_of(object.group(), &object.kind));
            if !known {
                let cause = if matches!(error, ListError::Forbidden(_)) {
                    WhyKindIsNotKnown::Forbidden
                } else {
                    WhyKindIsNotKnown::Failed
                };
                found.gaps.push(gap_with_effect(&object.api_version, &object.kind, cause, error.to_string()));
            }
        }
    }
}

pub(super) fn gap_with_effect(
    api_version: &str,
    kind: &str,
    cause: WhyKindIsNotKnown,
    message: String,
) -> KindNotKnown {
    KindNotKnown {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        cause,
        message,
        effect: what_is_undecided_without(api_version, kind),
    }
}

/// Kinds of facts that the API server serves only in versions that are not read.
pub(super) fn kinds_served_only_in_other_versions(served: &ServedKinds) -> Vec<KindNotKnown> {
    let of = |watched: &crate::cluster::watched_kinds::WatchedKind| {
        let others = served.only_other_versions(watched.group, watched.version, watched.name())?.join(", ");
        let wanted = format!("{}/{}", watched.group, watched.version);
        let message = format!("the API server serves {others}; fabric-admission reads {}", watched.version);
        Some(gap_with_effect(&wanted, watched.name(), WhyKindIsNotKnown::OtherVersion, message))
    };
    WATCHED.iter().filter_map(of).collect()
}
