//! `--mutate off`: no pod is changed, and the verdicts stay what they are with changes.

use crate::support::server::{PROFILE, Server, bare_pod, patched, review};
use crate::support::suite::{Outcome, Suite};
use crate::support::{read, root};
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("webhook::without_changes_the_verdicts_stay", verdicts);
    suite.add("webhook::without_changes_placement_keeps_no_pod_off_the_nodes_of_others", placement);
}

const POD: (&str, &str) = ("", "Pod");

fn start(mutate: &str) -> Result<Server, String> {
    Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml", "--mutate", mutate])
}

fn verdicts() -> Outcome {
    let (on, off) = (start("on")?, start("off")?);
    let ask = |server: &Server, path: &str, pod: &Value| -> Result<Value, String> {
        let body = review("u", POD, "CREATE", pod).to_string();
        Ok(server.post(path, body.as_bytes())?.json()?["response"].clone())
    };
    let with = |key: &str, value: Value| {
        let mut pod = bare_pod();
        pod["metadata"]["annotations"][key] = value;
        pod
    };
    let mut socket = bare_pod();
    socket["spec"]["containers"][0]["command"] = json!(["torchrun", "train.py"]);
    socket["spec"]["containers"][0]["env"] = json!([{"name": "NCCL_IB_DISABLE", "value": "1"}]);
    let mut verdicts = Vec::new();
    for pod in [
        bare_pod(),
        with("k8s.v1.cni.cncf.io/networks", json!("[null]")),
        with("k8s.v1.cni.cncf.io/networks", json!("a@x,b@x")),
        with("fabric-admission.dev/profile", json!("h10")),
        with("fabric-admission.dev/inject", json!("false")),
        socket,
    ] {
        let answer = ask(&off, "/mutate", &pod)?;
        assert!(answer.get("patch").is_none_or(Value::is_null), "{answer}");
        let withheld = ask(&off, "/validate", &pod)?;
        // With changes, the pod that is judged in the end has them.
        let changed = ask(&on, "/mutate", &pod)?;
        assert_eq!(answer["allowed"], changed["allowed"], "{pod}");
        let last = match (changed["allowed"] == true, changed["patch"].is_string()) {
            (true, true) => ask(&on, "/validate", &patched(&pod, &json!({"response": changed}))?)?,
            (true, false) => ask(&on, "/validate", &pod)?,
            (false, _) => changed.clone(),
        };
        assert_eq!(withheld["allowed"], last["allowed"], "{pod}: {withheld} {last}");
        let text = answer["warnings"].to_string();
        let changes = changed.get("patch").is_some_and(Value::is_string);
        assert_eq!(text.contains("fabric-admission would inject"), changes, "{pod}: {text}");
        assert!(!text.contains("fabric-admission injected"), "{text}");
        verdicts.push(withheld["allowed"] == true);
    }
    assert!(verdicts.contains(&true) && verdicts.contains(&false), "{verdicts:?}");
    let ready = off.admin("/readyz")?;
    assert!(ready.status == 200 && ready.body.contains("--mutate off"), "{}", ready.body);
    assert!(
        off.metric("fabric_admission_requests_total{entry=\"mutate\",mode=\"enforce\",result=\"withheld\"}")?
            >= 1.0
    );
    Ok(())
}

/// A profile's placement restricts a pod only if the pod gets it (docs/adr/0022).
fn placement() -> Outcome {
    let field =
        root().join("tests/facts-behind-rules/resolve/a-named-profile-that-keeps-its-pods-to-its-nodes.yaml");
    let cluster = read(&field)?;
    let mut pod = bare_pod();
    pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!("lax");
    pod["spec"]["containers"][0]["env"] = json!([{"name": "NCCL_ALGO", "value": "Ring"}]);
    for (mutate, path, allowed) in [
        ("on", "/mutate", true),
        ("on", "/validate", false),
        ("off", "/mutate", true),
        ("off", "/validate", false),
    ] {
        let arguments = ["--cluster", "cluster.yaml", "--mutate", mutate];
        let server = Server::start(&[("cluster.yaml", &cluster)], &arguments)?;
        let body = review("u", POD, "CREATE", &pod).to_string();
        let answer = server.post(path, body.as_bytes())?.json()?["response"].clone();
        assert_eq!(answer["allowed"], allowed, "--mutate {mutate} {path}: {answer}");
    }
    Ok(())
}
