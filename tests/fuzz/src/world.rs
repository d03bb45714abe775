//! Decisions: on the body of a webhook's request, on objects, and on a pod among facts.

use fabric_admission::facts::EnforcementMode;
use fabric_admission::manifest::{self, DocumentOrError};
use fabric_admission::profile::FabricProfile;
use fabric_admission::profile::built_in_bases::BASES;
use fabric_admission::review::admission_response;
use fabric_admission::review::decide_webhook_request::{Answer, WebhookEntry, decide_body_for_anyone};
use fabric_admission::rules::{ObjectContext, ObjectEvent, run_rules_on_object};
use fabric_admission::snapshot::{Builder, Layer, Snapshot};
use serde_json::{Value, json};
use std::sync::OnceLock;

const ENTRIES: [WebhookEntry; 4] = [
    WebhookEntry::Mutate,
    WebhookEntry::Validate,
    WebhookEntry::Audit,
    WebhookEntry::Object(EnforcementMode::Enforce),
];

/// A body as it comes from anybody: it is answered as the API server reads answers, or refused with words; a patch
/// applies, and the patched pod gets none.
pub fn review(data: &[u8]) {
    static SNAPSHOT: OnceLock<Snapshot> = OnceLock::new();
    let snapshot = SNAPSHOT.get_or_init(|| {
        let spec =
            json!({"base": "roce-sriov", "subsets": [{"name": "numa0", "interfaces": ["rail0", "rail1"]}]});
        let mut builder = builder();
        profile(&mut builder, "p0", &spec);
        profile(&mut builder, "p1", &json!({"base": "infiniband-sriov"}));
        builder.build()
    });
    for entry in ENTRIES {
        match decide_body_for_anyone(data, entry, snapshot) {
            Ok(outcome) => {
                well_formed(&outcome);
                if !outcome.decision.patch.is_empty() {
                    // What is nested more deeply than serde_json reads is in fields that no decision reads.
                    if let Ok(body) = serde_json::from_slice::<Value>(data) {
                        converges(&body, &outcome, snapshot);
                    }
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// An object of any kind that rules look at: `{"group", "kind", "object", "old"}`.
pub fn objects(data: &[u8]) {
    let Ok(input) = serde_json::from_slice::<Value>(data) else { return };
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let (object, old) = (input["object"].to_string(), input["old"].to_string());
    let mut builder = builder();
    // An object that cannot be read is reported, and is not a fact.
    let _ = builder.add(Layer::Live, text("group"), text("kind"), &object, "default");
    let snapshot = builder.build();
    for event in [ObjectEvent::Given, ObjectEvent::Updated { old: &old }, ObjectEvent::Deleted] {
        let context = ObjectContext::new((text("group"), text("kind")), &object, event, &snapshot);
        for finding in run_rules_on_object(&context) {
            assert!(finding.path.is_empty() || finding.path.starts_with('/'), "{finding:?}");
            printable(&finding.message);
            printable(&finding.fix);
        }
    }
}

/// A pod among facts: `{"pod": …, "facts": […]}`.
pub fn decision(data: &[u8]) {
    let Ok(input) = serde_json::from_slice::<Value>(data) else { return };
    let mut builder = builder();
    for fact in input["facts"].as_array().into_iter().flatten() {
        let api = fact["apiVersion"].as_str().unwrap_or_default();
        let group = api.split_once('/').map_or("", |(group, _)| group);
        let _ = builder.add(
            Layer::Live,
            group,
            fact["kind"].as_str().unwrap_or_default(),
            &fact.to_string(),
            "team",
        );
    }
    let snapshot = builder.build();
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let request =
        json!({"uid": "u", "kind": kind, "namespace": "team", "operation": "CREATE", "object": input["pod"]});
    let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    let bytes = body.to_string().into_bytes();
    for entry in ENTRIES {
        let Ok(outcome) = decide_body_for_anyone(&bytes, entry, &snapshot) else { continue };
        well_formed(&outcome);
        if !outcome.decision.patch.is_empty() {
            converges(&body, &outcome, &snapshot);
        }
    }
}

fn builder() -> Builder {
    static PROFILES: OnceLock<Vec<FabricProfile>> = OnceLock::new();
    let bases = PROFILES.get_or_init(|| {
        let base = |(name, text): &(&str, &str)| match manifest::read_documents_of_file(name, text.as_bytes())
            .pop()
        {
            Some(DocumentOrError::Document(document)) => serde_json::from_str(document.json.get()).unwrap(),
            other => panic!("{name}: {other:?}"),
        };
        BASES.iter().map(base).collect()
    });
    Builder::new(bases.clone())
}

fn profile(builder: &mut Builder, name: &str, spec: &Value) {
    let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
    let object = json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec});
    builder.add(Layer::Live, "fabric-admission.dev", kind, &object.to_string(), "").unwrap();
}

/// What an API server takes for an answer, and shows to people.
fn well_formed(outcome: &Answer) {
    let answer: Value = serde_json::from_slice(&admission_response::render(outcome)).unwrap();
    let response = &answer["response"];
    assert_eq!(response["uid"], outcome.uid.as_str());
    assert_eq!(response["patch"].is_string(), response["patchType"] == "JSONPatch");
    assert!(outcome.entry == WebhookEntry::Mutate || response["patch"].is_null());
    assert!(outcome.entry != WebhookEntry::Audit || response["allowed"] == true);
    let message = response["status"]["message"].as_str().unwrap_or_default();
    assert!(message.len() <= 8 << 10, "a message of {} bytes", message.len());
    assert!(message.lines().next().unwrap_or_default().len() <= 300);
    let warnings = response["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    assert!(warnings.len() <= 15, "{} warnings", warnings.len());
    for warning in warnings {
        let warning = warning.as_str().unwrap();
        assert!(warning.chars().count() < 200, "{warning}");
        printable(warning);
    }
}

fn printable(text: &str) {
    assert!(!text.is_empty() && !text.chars().any(char::is_control), "{text:?}");
}

/// The patch applies, and the patched pod is left as it is.
fn converges(body: &Value, outcome: &Answer, snapshot: &Snapshot) {
    let mut body = body.clone();
    let text = outcome.decision.patch.text();
    let patch: json_patch::Patch = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let object = body.pointer_mut("/request/object").unwrap();
    json_patch::patch(object, &patch).unwrap_or_else(|e| panic!("{e}: {text}"));
    let second = decide_body_for_anyone(body.to_string().as_bytes(), outcome.entry, snapshot).unwrap();
    assert!(second.decision.patch.is_empty(), "patched again: {}", second.decision.patch.text());
    assert!(!second.decision.denied, "denied once patched: {:?}", second.decision.findings);
}
