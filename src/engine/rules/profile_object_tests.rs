//! Tests of FAB811 and FAB812, which check the same objects.

use crate::rules::finding::{Finding, Severity};
use crate::rules::object_context::{ObjectContext, ObjectEvent};
use crate::rules::object_kinds::FABRIC_PROFILE;
use crate::rules::which_rules_run::run_rules_on_object;
use crate::snapshot::{Audience, Builder, Layer, Snapshot};

fn profile(spec: &str) -> String {
    format!(
        r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"p"}},
        "spec":{{"transport":"roce","attachment":"sriov",{spec}}}}}"#
    )
}

fn snapshot(namespaces: &[(&str, &str, &str)]) -> Snapshot {
    let mut builder = Builder::default();
    for (name, mode, default) in namespaces {
        let json = format!(
            r#"{{"metadata":{{"name":"{name}","labels":{{"fabric-admission.dev/mode":"{mode}"}},
            "annotations":{{"fabric-admission.dev/profile":"{default}"}}}}}}"#
        );
        builder.add(Layer::Live, "", "Namespace", &json, "").unwrap();
    }
    builder.build()
}

fn check(json: &str, event: ObjectEvent<'_>, snapshot: &Snapshot) -> Vec<Finding> {
    run_rules_on_object(&ObjectContext::new(FABRIC_PROFILE, json, event, snapshot))
}

#[test]
fn a_value_that_cannot_work_is_named() {
    for (spec, pointer) in [
        (r#""bootstrap":"rail9""#, "/spec/bootstrap"),
        (r#""base":"roce""#, "/spec/base"),
        (r#""rails":3"#, "/spec/rails"),
    ] {
        let found = check(&profile(spec), ObjectEvent::Given, &Snapshot::default());
        assert_eq!((found[0].rule, &*found[0].path, found.len()), ("FAB811", pointer, 1), "{found:?}");
    }
    assert!(check(&profile(r#""priority":1"#), ObjectEvent::Given, &Snapshot::default()).is_empty());
}

#[test]
fn a_change_of_what_running_jobs_have_names_who_uses_it() {
    let names: Vec<String> = (0..7).map(|n| format!("team-{n}")).collect();
    let mut known: Vec<_> = names.iter().map(|n| (n.as_str(), "enforce", "")).collect();
    known.extend([("looks", "audit", ""), ("by-default", "", "p")]);
    let snapshot = snapshot(&known);
    let old = profile(r#""rails":[{"network":"a/b"}]"#);
    let updated = |spec: &str| check(&profile(spec), ObjectEvent::Updated { old: &old }, &snapshot);
    let found = updated(r#""rails":[{"network":"a/c"}],"env":[{"name":"A","value":"1"}]"#);
    assert_eq!((found.len(), found[0].rule, found[0].severity), (1, "FAB812", Severity::Warning));
    let message = "profile \"p\" changes (rails, env) while 8 namespaces may use it (by-default, team-0, team-1, team-2, team-3, 3 more): restarted ranks of running jobs get other settings";
    assert_eq!(found[0].message, message);
    // rail0 is the default: a pod of a running job was given the same.
    assert!(updated(r#""rails":[{"network":"a/b","interface":"rail0"}]"#).is_empty());
    // Which pods get the profile changes what a restarted rank is given.
    let found = updated(r#""rails":[{"network":"a/b"}],"priority":3"#);
    assert!(found[0].message.contains("changes (priority)"), "{}", found[0].message);
    let deleted = check(&old, ObjectEvent::Deleted, &snapshot);
    assert_eq!((deleted.len(), &*deleted[0].path), (1, ""), "{deleted:?}");
}

/// The selector of an invented profile would be a question about the labels of namespaces.
#[test]
fn anyone_learns_a_number_and_no_names() {
    let mut builder = Builder::default();
    let stored = profile(r#""namespaces":{"matchLabels":{"team":"a"}}"#);
    builder.add(Layer::Live, FABRIC_PROFILE.0, FABRIC_PROFILE.1, &stored, "").unwrap();
    for name in ["team-1", "team-2"] {
        let json = format!(
            r#"{{"metadata":{{"name":"{name}","labels":{{"fabric-admission.dev/mode":"enforce","team":"a"}}}}}}"#
        );
        builder.add(Layer::Live, "", "Namespace", &json, "").unwrap();
    }
    let snapshot = builder.build();
    let deleted = |json: &str, audience| {
        let found = check(json, ObjectEvent::Deleted, &snapshot.seen_from_object(None, audience));
        found.into_iter().map(|f| f.message).collect::<Vec<_>>().join("")
    };
    for (selector, anyone) in [
        (r#""namespaces":{"matchLabels":{"team":"a"}}"#, " while 2 namespaces may use it"),
        (r#""namespaces":{"matchExpressions":[{"key":"team","operator":"Exists"}]}"#, ""),
        (r#""namespaces":{"matchLabels":{"team":"b"}}"#, ""),
        (r#""priority":1"#, " while 2 namespaces may use it"),
    ] {
        let text = deleted(&profile(selector), Audience::Anyone);
        let expected = format!("profile \"p\" is deleted{anyone}: pods that name it are refused from now on");
        assert_eq!(text, expected, "{selector}");
    }
    assert!(deleted(&stored, Audience::Tenant).contains("2 namespaces may use it (team-1, team-2)"));
}

#[test]
fn what_nobody_uses_may_change() {
    let old = profile(r#""namespaces":{"matchLabels":{"team":"a"}}"#);
    let new = profile(r#""namespaces":{"matchLabels":{"team":"a"}},"env":[{"name":"A","value":"1"}]"#);
    let snapshot = snapshot(&[("other", "enforce", ""), ("looks", "audit", "")]);
    assert!(check(&new, ObjectEvent::Updated { old: &old }, &snapshot).is_empty());
    assert!(check(&old, ObjectEvent::Deleted, &snapshot).is_empty());
}
