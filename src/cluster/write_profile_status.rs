//! Writes findings about FabricProfiles into their `status`. Only the replica with the Lease writes; nothing here is on the
//! path of a request.

use super::Metrics;
use super::call_deadline_and_failure_text::CallFault;
use super::json_of_watch_events_and_pages::{ListMeta, Page};
use super::leader_lease::Lease;
use crate::profile::FabricProfileStatus;
use crate::resolve::profile_status::{ProfileUse, Statuses};
use crate::snapshot::Snapshot;
use kube::api::{ListParams, Patch, PatchParams};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Name of the Lease; deploy/base/rbac.yaml has it as well.
pub const LEASE: &str = "fabric-admission-status";
/// Name of this writer in `metadata.managedFields`.
pub const FIELD_MANAGER: &str = "fabric-admission";
/// Time between two rounds.
const EVERY: Duration = Duration::from_secs(5);
/// Time after which the objects are read again without a new Snapshot: others may have changed a status.
const LOOK_AGAIN: Duration = Duration::from_secs(60);
/// Objects of a page.
const LIMIT: u32 = 500;
const PATH: &str = "/apis/fabric-admission.dev/v1alpha1/fabricprofiles";

/// Writes statuses until `stop`, while `identity` holds the Lease in `namespace`. `snapshot` returns the Snapshot that
/// decisions use, or `None` before the first complete one. At the end a held Lease is given up.
pub async fn write_statuses_while_leader(
    client: kube::Client,
    namespace: String,
    identity: String,
    metrics: Arc<Metrics>,
    snapshot: impl Fn() -> Option<Arc<Snapshot>> + Send + 'static,
    stop: impl Future<Output = ()> + Send,
) {
    let lease = Lease::new(client.clone(), &namespace, LEASE, identity);
    let mut writer = Writer {
        client,
        lease,
        metrics,
        reported: BTreeMap::new(),
        written: BTreeMap::new(),
        last: Last::default(),
    };
    let work = async {
        loop {
            if let Some(snapshot) = snapshot() {
                writer.write_changed_statuses(snapshot).await;
            }
            tokio::time::sleep(EVERY).await;
        }
    };
    tokio::select! { () = stop => {}, () = work => {} }
    let released = writer.lease.release().await;
    writer.log_error_once("release", released);
    writer.metrics.set_status_leader(false);
}

struct Writer {
    client: kube::Client,
    lease: Lease,
    metrics: Arc<Metrics>,
    /// The last error of each sort, so that it is logged once.
    reported: BTreeMap<&'static str, String>,
    /// By name: the last written status, and the status of the object after that. An older CRD drops fields; repeated writes
    /// would not change that.
    written: BTreeMap<String, (FabricProfileStatus, Option<FabricProfileStatus>)>,
    last: Last,
}

/// The last complete round.
#[derive(Default)]
struct Last {
    snapshot: Option<Arc<Snapshot>>,
    at: Option<Instant>,
    /// Objects that differ from the Snapshot. Their status says so only at the second round, because the Snapshot may be
    /// older than the list.
    others: BTreeSet<String>,
    /// Whether some of them are new.
    again: bool,
}

impl Last {
    fn is_enough_for(&self, snapshot: &Arc<Snapshot>) -> bool {
        let same = self.snapshot.as_ref().is_some_and(|last| Arc::ptr_eq(last, snapshot));
        same && !self.again && self.at.is_some_and(|at| at.elapsed() < LOOK_AGAIN)
    }
}

/// The needed part of an object.
#[derive(Deserialize)]
struct Shape {
    metadata: Meta,
    #[serde(default)]
    status: Option<FabricProfileStatus>,
}

#[derive(Deserialize)]
struct Meta {
    name: String,
    #[serde(default)]
    generation: Option<i64>,
}

/// Current and wanted status of an object.
struct CurrentAndWantedStatus {
    name: String,
    has: Option<FabricProfileStatus>,
    wants: FabricProfileStatus,
    standing: ProfileUse,
}

impl Writer {
    /// Logs an error once, until the call succeeds or the error changes. Returns the value of a successful call.
    fn log_error_once<T>(&mut self, what: &'static str, done: Result<T, CallFault>) -> Option<T> {
        match done {
            Ok(value) => {
                self.reported.remove(what);
                Some(value)
            }
            Err(fault) => {
                self.metrics.count_failed_status_call(what);
                let text = crate::text::escaped_and_cut(&fault.to_string(), 300);
                if self.reported.get(what) != Some(&text) {
                    tracing::warn!(what, error = %text, "updating the status of FabricProfiles failed");
                    self.reported.insert(what, text);
                }
                None
            }
        }
    }

    async fn write_changed_statuses(&mut self, snapshot: Arc<Snapshot>) {
        if !self.acquire_lease_or_forget_statuses().await || self.last.is_enough_for(&snapshot) {
            return;
        }
        let listed = self.list_pages_of_profiles().await;
        let Some(pages) = self.log_error_once("list", listed) else { return };
        let view = Arc::clone(&snapshot);
        // Hundreds of profiles over thousands of namespaces take milliseconds, which would hold up requests.
        let Ok(all) = tokio::task::spawn_blocking(move || wanted_status_of_each_object(&pages, &view)).await
        else {
            return;
        };
        let others: BTreeSet<String> =
            all.iter().filter(|w| w.standing == ProfileUse::Other).map(|w| w.name.clone()).collect();
        let known = std::mem::replace(&mut self.last.others, others);
        self.last.again = self.last.others.iter().any(|name| !known.contains(name));
        self.metrics
            .replace_profile_problem_counts(all.iter().map(|w| (w.name.as_str(), w.wants.problems.len())));
        self.written.retain(|name, _| all.iter().any(|w| w.name == *name));
        for wanted in all {
            let early = wanted.standing == ProfileUse::Other && !known.contains(&wanted.name);
            if early || self.is_written(&wanted) {
                continue;
            }
            // The Lease must outlast each write.
            if !self.acquire_lease_or_forget_statuses().await {
                return;
            }
            let patched = self.patch_status_of_object(&wanted).await;
            if let Some(has) = self.log_error_once("patch", patched) {
                self.metrics.count_status_write();
                self.written.insert(wanted.name, (wanted.wants, has));
            } else {
                self.last.again = true;
            }
        }
        self.last.snapshot = Some(snapshot);
        self.last.at = Some(Instant::now());
    }

    /// Whether the Lease is ours.
    async fn acquire_lease_or_forget_statuses(&mut self) -> bool {
        let held = self.lease.acquire_or_renew().await;
        let leads = self.log_error_once("lease", held).unwrap_or(false);
        self.metrics.set_status_leader(leads);
        if !leads {
            // Another replica writes meanwhile.
            self.metrics.replace_profile_problem_counts(std::iter::empty());
            self.last = Last::default();
            self.written.clear();
        }
        leads
    }

    fn is_written(&self, wanted: &CurrentAndWantedStatus) -> bool {
        let before = self.written.get(&wanted.name);
        wanted.has.as_ref() == Some(&wanted.wants)
            || before.is_some_and(|(wrote, had)| *wrote == wanted.wants && *had == wanted.has)
    }

    async fn list_pages_of_profiles(&self) -> Result<Vec<String>, CallFault> {
        let mut pages = Vec::new();
        let mut params = ListParams::default().limit(LIMIT);
        loop {
            let request = kube::core::Request::new(PATH).list(&params).map_err(kube::Error::BuildRequest)?;
            let text = CallFault::await_with_deadline(self.client.request_text(request)).await?;
            let Page { metadata: ListMeta { next, .. }, .. } = serde_json::from_str(&text)?;
            pages.push(text);
            match next.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(pages),
            }
        }
    }

    /// Writes a status. Returns the status that the object has then.
    async fn patch_status_of_object(
        &self,
        wanted: &CurrentAndWantedStatus,
    ) -> Result<Option<FabricProfileStatus>, CallFault> {
        let FabricProfileStatus {
            observed_generation,
            transport,
            attachment,
            priority,
            matching_nodes,
            matching_namespaces,
            namespaces,
            problems,
            notes,
        } = &wanted.wants;
        // Null removes a field (RFC 7396).
        let problems = (!problems.is_empty()).then_some(problems);
        let notes = (!notes.is_empty()).then_some(notes);
        let namespaces = (!namespaces.is_empty()).then_some(namespaces);
        let body = json!({"status": {
            "observedGeneration": observed_generation, "transport": transport, "attachment": attachment,
            "priority": priority, "matchingNodes": matching_nodes, "matchingNamespaces": matching_namespaces,
            "namespaces": namespaces, "problems": problems, "notes": notes,
        }});
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let request = kube::core::Request::new(PATH)
            .patch_subresource("status", &wanted.name, &params, &Patch::Merge(&body))
            .map_err(kube::Error::BuildRequest)?;
        match CallFault::await_with_deadline(self.client.request::<Shape>(request)).await {
            Ok(shape) => Ok(shape.status),
            // The object was deleted meanwhile.
            Err(fault) if fault.http_status() == Some(404) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

/// Current and wanted statuses of the objects of a list. Objects without a name or with another shape of status are
/// skipped.
fn wanted_status_of_each_object(pages: &[String], snapshot: &Snapshot) -> Vec<CurrentAndWantedStatus> {
    let statuses = Statuses::index_namespaces_for_statuses(snapshot);
    let items = pages.iter().filter_map(|page| serde_json::from_str::<Page<'_>>(page).ok()?.items).flatten();
    items
        .filter_map(|object| {
            let shape: Shape = serde_json::from_str(object.get()).ok()?;
            let (mut wants, standing) = statuses.of_object(object.get());
            wants.observed_generation = shape.metadata.generation;
            Some(CurrentAndWantedStatus { name: shape.metadata.name, has: shape.status, wants, standing })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_gives_what_each_object_has_and_wants() {
        let page = r#"{"metadata":{},"items":[
            {"metadata":{"name":"p","generation":3},"spec":{"base":"none"},"status":{"observedGeneration":2}},
            {"metadata":{}}]}"#;
        let all = wanted_status_of_each_object(&[page.to_owned()], &Snapshot::default());
        assert_eq!((all.len(), all[0].name.as_str(), all[0].standing), (1, "p", ProfileUse::Unusable));
        assert_eq!(all[0].has.as_ref().unwrap().observed_generation, Some(2));
        // Objects of a list have no kind of their own, but those of custom resources do; what is said is a status.
        assert_eq!((all[0].wants.observed_generation, all[0].wants.problems.len()), (Some(3), 1));
    }
}
