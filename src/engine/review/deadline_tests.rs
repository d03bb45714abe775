//! A decision that a time limit cuts short is none: a finding that refuses the object may be missing from it.

use super::admission_review::RequestError;
use super::decide_webhook_request::{
    SnapshotForAudience, WebhookEntry, decide_body_for_anyone, decide_body_within_deadline,
};
use crate::decision_limits::DecisionLimits;
use crate::facts::EnforcementMode;
use crate::snapshot::{Audience, Builder};
use std::sync::atomic::{AtomicUsize, Ordering};

const SPEC: &str = r#"{"containers":[{"name":"a","image":"i","env":[{"name":"NCCL_IB_DISABLE","value":"1"}],
    "resources":{"limits":{"nvidia.com/gpu":"8"}}}]}"#;
const POLICY: &str =
    r#"{"metadata":{"name":"p","namespace":"n"},"spec":{"deviceType":"vfio-pci","isRdma":true}}"#;

#[test]
fn wherever_the_time_is_over_there_is_no_decision() {
    let template = format!(r#"{{"spec":{{"template":{{"spec":{SPEC}}}}}}}"#);
    let jobs = format!(r#"[{{"name":"a","template":{template}}},{{"name":"b","template":{template}}}]"#);
    let snapshot = Builder::default().build();
    for (entry, group, kind, object) in [
        (WebhookEntry::Mutate, "", "Pod", format!(r#"{{"spec":{SPEC}}}"#)),
        (
            WebhookEntry::Workload(EnforcementMode::Enforce),
            "jobset.x-k8s.io",
            "JobSet",
            format!(
                r#"{{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{{"name":"j"}},"spec":{{"replicatedJobs":{jobs}}}}}"#
            ),
        ),
        (
            WebhookEntry::Object(EnforcementMode::Enforce),
            "sriovnetwork.openshift.io",
            "SriovNetworkNodePolicy",
            POLICY.to_owned(),
        ),
    ] {
        let body = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","namespace":"n",
                "kind":{{"group":"{group}","version":"v1","kind":"{kind}"}},"operation":"CREATE","object":{object}}}}}"#
        );
        let whole = decide_body_for_anyone(body.as_bytes(), entry, &snapshot).unwrap().decision;
        assert!(whole.in_scope && !whole.findings.is_empty(), "{kind}: {whole:?}");
        // Time for so many questions.
        let within = |questions: usize| {
            let asked = AtomicUsize::new(0);
            let over = || asked.fetch_add(1, Ordering::Relaxed) >= questions;
            let answer = decide_body_within_deadline(
                body.as_bytes(),
                entry,
                SnapshotForAudience { snapshot: &snapshot, audience: Audience::Anyone },
                &DecisionLimits::ends_when(&over),
            );
            (answer, asked.load(Ordering::Relaxed))
        };
        let (complete, asked) = within(usize::MAX);
        assert_eq!(complete.unwrap().decision.findings, whole.findings);
        assert!(asked > 5, "{kind}: asked {asked} times");
        for questions in 0..asked {
            assert_eq!(within(questions).0.unwrap_err(), RequestError::Late, "{kind} after {questions}");
        }
        assert!(within(asked).0.is_ok());
    }
}
