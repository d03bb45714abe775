//! What a small body may cause to be decided: the stored objects that the decision reads as a whole, since a small TrainJob
//! may name a runtime of a megabyte, and the number of pod templates. Whoever queues requests by their size asks first.

use super::decide_webhook_request::WebhookEntry;
use super::{admission_review, findings_on_train_job_with_runtime};
use crate::pod::workload_kinds::{self, WherePodsAre};
use crate::snapshot::Snapshot;
use memchr::memmem;

/// The JSON texts of the stored objects, one for each time that one is read.
#[must_use]
pub fn stored_runtimes_of_train_job<'s>(
    body: &[u8],
    entry: WebhookEntry,
    snapshot: &'s Snapshot,
) -> Vec<&'s str> {
    let of_workloads = matches!(entry, WebhookEntry::Workload(_) | WebhookEntry::Audit);
    let text = std::str::from_utf8(body).unwrap_or_default();
    // Names of kinds need no escapes in JSON, but may have them.
    if !of_workloads || !(text.contains("TrainJob") || text.contains("\\u")) {
        return Vec::new();
    }
    let Ok(request) = admission_review::parse(body) else { return Vec::new() };
    let kind = workload_kinds::find_workload_kind(&request.kind.group, &request.kind.kind);
    if kind.is_none_or(|kind| kind.holds != WherePodsAre::Trainer) {
        return Vec::new();
    }
    let namespace = request.namespace.as_deref().unwrap_or_default();
    let objects = [request.object, request.old_object].into_iter().flatten();
    objects
        .filter_map(|job| {
            findings_on_train_job_with_runtime::stored_runtime_of_train_job(job.get(), namespace, snapshot)
        })
        .collect()
}

/// Most pod templates that a request can hold (count), its old object included. Each has `"containers"`, without escapes
/// ([`crate::pod::templates_by_shape`]). A pod is one template.
#[must_use]
pub fn max_templates_in_body(body: &[u8], entry: WebhookEntry) -> usize {
    match entry {
        WebhookEntry::Workload(_) | WebhookEntry::Audit => memmem::find_iter(body, b"\"containers\"").count(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::EnforcementMode;
    use crate::snapshot::{Builder, Layer};

    #[test]
    fn templates_are_counted_where_workloads_are_decided() {
        let body = br#"{"spec":[{"spec":{"containers":[]}},{"initContainers":[],"x":"\"containers\"","containers":1}]}"#;
        assert_eq!(max_templates_in_body(body, WebhookEntry::Workload(EnforcementMode::Enforce)), 2);
        assert_eq!(max_templates_in_body(body, WebhookEntry::Audit), 2);
        assert_eq!(max_templates_in_body(body, WebhookEntry::Mutate), 1);
    }

    #[test]
    fn the_runtime_of_a_train_job_is_read_once_for_each_version() {
        let mut builder = Builder::default();
        let runtime = r#"{"metadata":{"name":"r","namespace":"team"},"spec":{"a":1}}"#;
        builder.add(Layer::Live, "trainer.kubeflow.org", "TrainingRuntime", runtime, "team").unwrap();
        let snapshot = builder.build();
        let of = |entry, kind: &str, name: &str, old: &str| {
            let job = format!(r#"{{"spec":{{"runtimeRef":{{"kind":"TrainingRuntime","name":"{name}"}}}}}}"#);
            let old = if old.is_empty() { String::new() } else { format!(r#","oldObject":{job}"#) };
            let body = format!(
                r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","namespace":"team",
                "kind":{{"group":"trainer.kubeflow.org","version":"v1","kind":"{kind}"}},"operation":"CREATE","object":{job}{old}}}}}"#
            );
            stored_runtimes_of_train_job(body.as_bytes(), entry, &snapshot)
        };
        let entry = WebhookEntry::Workload(EnforcementMode::Enforce);
        assert_eq!(of(entry, "TrainJob", "r", ""), [r#"{"a":1}"#]);
        assert_eq!(of(entry, "TrainJob", "r", "old").len(), 2);
        assert_eq!(of(entry, "Train\\u004aob", "r", "").len(), 1);
        assert_eq!(of(WebhookEntry::Audit, "TrainJob", "r", "").len(), 1);
        assert!(of(WebhookEntry::Validate, "TrainJob", "r", "").is_empty());
        assert!(of(entry, "TrainJob", "other", "").is_empty());
        assert!(of(entry, "Any", "r", "").is_empty());
    }
}
