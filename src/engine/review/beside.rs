//! Stored objects that the decision on a request reads as a whole beside the body: a small TrainJob may name a runtime of a
//! megabyte. Whoever queues requests by their size asks for them first.

use super::webhook::WebhookEntry;
use super::{envelope, train_job};
use crate::pod::workload::{self, Holds};
use crate::snapshot::Snapshot;

/// The JSON texts of the stored objects, one for each time that one is read.
#[must_use]
pub fn read_beside<'s>(body: &[u8], entry: WebhookEntry, snapshot: &'s Snapshot) -> Vec<&'s str> {
    let of_workloads = matches!(entry, WebhookEntry::Workload(_) | WebhookEntry::Audit);
    let text = std::str::from_utf8(body).unwrap_or_default();
    // Names of kinds need no escapes in JSON, but may have them.
    if !of_workloads || !(text.contains("TrainJob") || text.contains("\\u")) {
        return Vec::new();
    }
    let Ok(request) = envelope::parse(body) else { return Vec::new() };
    let kind = workload::find(&request.kind.group, &request.kind.kind);
    if kind.is_none_or(|kind| kind.holds != Holds::Trainer) {
        return Vec::new();
    }
    let namespace = request.namespace.as_deref().unwrap_or_default();
    let objects = [request.object, request.old_object].into_iter().flatten();
    objects.filter_map(|job| train_job::read_beside(job.get(), namespace, snapshot)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Mode;
    use crate::snapshot::{Builder, Layer};

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
            read_beside(body.as_bytes(), entry, &snapshot)
        };
        let entry = WebhookEntry::Workload(Mode::Enforce);
        assert_eq!(of(entry, "TrainJob", "r", ""), [r#"{"a":1}"#]);
        assert_eq!(of(entry, "TrainJob", "r", "old").len(), 2);
        assert_eq!(of(entry, "Train\\u004aob", "r", "").len(), 1);
        assert_eq!(of(WebhookEntry::Audit, "TrainJob", "r", "").len(), 1);
        assert!(of(WebhookEntry::Validate, "TrainJob", "r", "").is_empty());
        assert!(of(entry, "TrainJob", "other", "").is_empty());
        assert!(of(entry, "Any", "r", "").is_empty());
    }
}
