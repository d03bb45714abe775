//! FabricProfiles as objects: refused where they cannot work, warned of where they are in use.

use crate::support::server::{Server, review};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::profiles_that_cannot_work_are_refused", refused);
    suite.add("webhook::profiles_in_use_change_with_a_warning", in_use);
    suite.add("webhook::a_broken_profile_among_the_inputs_is_an_error_and_a_finding", among_inputs);
}

const KIND: (&str, &str) = ("fabric-admission.dev", "FabricProfile");

fn profile(spec: Value) -> Value {
    json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
        "metadata": {"name": "p", "uid": "1", "generation": 1}, "spec": spec})
}

fn ask(server: &Server, operation: &str, object: &Value, old: &Value) -> Result<Value, String> {
    let mut body = review("u", KIND, operation, object);
    body["request"]["oldObject"] = old.clone();
    Ok(server.post("/validate-object", body.to_string().as_bytes())?.json()?["response"].clone())
}

fn refused() -> Outcome {
    let broken = profile(json!({"base": "roce-sriov", "bootstrap": "rail9"}));
    let good = profile(json!({"base": "roce-sriov"}));
    for mode in ["enforce", "audit"] {
        let server = Server::start(&[], &["--network-objects", mode])?;
        let answer = ask(&server, "CREATE", &broken, &Value::Null)?;
        assert_eq!(answer["allowed"], mode == "audit", "{answer}");
        let reported = if mode == "audit" { &answer["warnings"][0] } else { &answer["status"]["message"] };
        let reported = reported.as_str().unwrap_or_default();
        assert!(reported.contains("FAB811") && reported.contains("spec.bootstrap"), "{answer}");
        let answer = ask(&server, "CREATE", &good, &Value::Null)?;
        assert!(answer["allowed"] == true && answer.get("warnings").is_none(), "{answer}");
        // One that is broken already can still be touched, and go.
        let mut labelled = broken.clone();
        labelled["metadata"]["labels"] = json!({"a": "b"});
        assert_eq!(ask(&server, "UPDATE", &labelled, &broken)?["allowed"], true);
        assert_eq!(ask(&server, "DELETE", &Value::Null, &broken)?["allowed"], true);
    }
    Ok(())
}

fn in_use() -> Outcome {
    // The second one names the profile as its default and does not enforce. A caller who invents the name learns nothing
    // about it.
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {fabric-admission.dev/mode: enforce}}\n---\n\
        apiVersion: v1\nkind: Namespace\nmetadata: {name: other, annotations: {fabric-admission.dev/profile: p}}\n";
    let files = [("cluster.yaml", namespace)];
    let server = Server::start(&files, &["--cluster", "cluster.yaml", "--network-objects", "enforce"])?;
    let old = profile(json!({"base": "roce-sriov"}));
    let new = profile(json!({"base": "roce-sriov", "env": [{"name": "NCCL_IB_TC", "value": "106"}]}));
    for (operation, object) in [("UPDATE", &new), ("DELETE", &Value::Null)] {
        let answer = ask(&server, operation, object, &old)?;
        let reported = answer["warnings"][0].as_str().unwrap_or_default();
        assert!(answer["allowed"] == true && reported.starts_with("FAB812"), "{answer}");
        // Anyone may have sent this.
        assert!(reported.contains("1 namespace may use it:") && !reported.contains("team"), "{answer}");
        assert!(reported.chars().count() < 200, "{answer}");
    }
    // Whatever decides which pods get the profile, and what they get.
    let pool = json!({"matchLabels": {"pool": "a"}});
    for (field, value) in [
        ("memlock", json!("runtime")),
        ("nodeSelector", pool.clone()),
        ("namespaces", pool),
        ("priority", json!(7)),
        ("sharedMemory", json!({"perAccelerator": "3Gi"})),
        ("ncclConf", json!("image")),
    ] {
        let changed = profile(json!({"base": "roce-sriov", field: value}));
        let answer = ask(&server, "UPDATE", &changed, &old)?;
        let reported = answer["warnings"].to_string();
        assert!(reported.contains(&format!("changes ({field})")), "{field}: {answer}");
    }
    let renamed = profile(json!({"base": "roce-sriov", "description": "ours"}));
    assert!(ask(&server, "UPDATE", &renamed, &old)?.get("warnings").is_none());
    Ok(())
}

fn among_inputs() -> Outcome {
    let (broken, good) = (
        profile(json!({"base": "roce-sirov"})).to_string(),
        profile(json!({"base": "roce-sriov"})).to_string(),
    );
    let ran =
        crate::support::round_trip::review(&["-".to_owned()], broken.as_bytes(), crate::support::root())?;
    assert_eq!((ran.ran.code, ran.list("errors").len(), ran.rules()), (2, 1, vec!["FAB811".to_owned()]));
    let ran = crate::support::round_trip::review(&["-".to_owned()], good.as_bytes(), crate::support::root())?;
    assert_eq!((ran.ran.code, ran.results().len(), ran.list("skipped").len()), (0, 0, 1));
    Ok(())
}
