//! Namespace isolation: networks of other namespaces are refused when a pod is created, and when its annotations change.

use super::support::plane::{Kubectl, Plane};
use super::support::policies::Policies;
use super::support::site::{PROFILE_LABEL, Site, cpu_pod};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use crate::support::{read, root, run};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "isolation_holds_when_annotations_change", changes);
    trial(suite, assets, "the_isolation_policy_lets_nothing_past_that_the_rule_refuses", policy);
    trial(suite, assets, "the_isolation_policy_refuses_claims_on_networks_of_others", claims);
}

const NETWORKS: &str = "k8s.v1.cni.cncf.io/networks";
const DEFAULT: &str = "v1.multus-cni.io/default-network";

fn changes(plane: &Plane) -> Outcome {
    let site = Site::start_overlay(plane, "overlays/namespace-isolation", &[], &["--namespace-isolation"])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let isolated = |done: &Kubectl| !done.ok && done.stderr.contains("FAB150");
    for (key, value) in [
        (NETWORKS, "bank/vlan42"),
        (NETWORKS, r#"[{"name":"vlan42","namespace":"bank","namespace":null}]"#),
        (NETWORKS, r#"[{"name":"vlan42","nameſpace":"bank"}]"#),
        (DEFAULT, "bank/vlan42"),
    ] {
        let mut pod = cpu_pod("refused");
        pod["metadata"]["annotations"] = json!({key: value});
        let done = site.create(&namespace, &pod, &[])?;
        assert!(isolated(&done), "{key}: {value}: {}", done.stderr);
    }
    // A gate holds the pod back: its networks can change before Multus ever reads them.
    let mut pod = cpu_pod("held");
    pod["metadata"]["annotations"] = json!({NETWORKS: "own"});
    pod["spec"]["schedulingGates"] = json!([{"name": "example.com/held"}]);
    let done = site.create(&namespace, &pod, &[])?;
    assert!(done.ok, "{}", done.stderr);
    let set = |key: &str, value: &str| {
        let change = json!({"metadata": {"annotations": {key: value}}}).to_string();
        plane.kubectl(&["patch", "pod", "held", "-n", &namespace, "--type=merge", "-p", &change], "")
    };
    // The API server takes the new entry up a moment after it took up the others.
    plane.until("changes are asked about", Duration::from_secs(20), || {
        Ok(isolated(&set(NETWORKS, "bank/vlan41")?))
    })?;
    let asked = site.requests("networks")?;
    for (key, value) in [
        (NETWORKS, r#"[{"name":"vlan42","namespace":"bank","namespace":null}]"#),
        (NETWORKS, r#"[{"name":"vlan42","nameſpace":"bank"}]"#),
        (DEFAULT, "bank/vlan42"),
        (DEFAULT, r#"[{"name":"own","cni-args":{"guid":"02:00:00:00:00:00:00:01"}}]"#),
    ] {
        let done = set(key, value)?;
        assert!(isolated(&done), "{key}: {value}: {}", done.stderr);
    }
    // ib-kubernetes writes the GUID into the annotation, and Multus its status beside it, of which nobody is asked.
    let rewritten = r#"[{"name":"own","namespace":"NAMESPACE","infiniband-guid":"02:00:00:00:00:00:00:01"}]"#;
    let rewritten = rewritten.replace("NAMESPACE", &namespace);
    let done = set(NETWORKS, &rewritten)?;
    assert!(isolated(&done), "{}", done.stderr);
    let change = json!({"metadata": {"annotations": {NETWORKS: rewritten}}}).to_string();
    let mut args = vec!["patch", "pod", "held", "-n", &namespace, "--type=merge", "-p", &change];
    args.push("--as=system:serviceaccount:kube-system:ib-kubernetes");
    args.push("--as-group=system:masters");
    let done = plane.kubectl(&args, "")?;
    assert!(done.ok, "{}", done.stderr);
    for (key, value) in [
        ("k8s.v1.cni.cncf.io/network-status", "[]".to_owned()),
        ("example.com/other", "bank/vlan42".to_owned()),
    ] {
        let done = set(key, &value)?;
        assert!(done.ok, "{key}: {value}: {}", done.stderr);
    }
    assert_eq!(site.requests("networks")? - asked, 6);
    // Without a server, only changes of networks wait.
    site.point(|name| !name.starts_with("networks."))?;
    plane.until("the entry is away", Duration::from_secs(20), || {
        let done = set(NETWORKS, "own")?;
        Ok(!done.ok && done.stderr.contains("failed calling webhook"))
    })?;
    let done = set("example.com/other", "more")?;
    assert!(done.ok, "{}", done.stderr);
    Ok(())
}

/// Texts of the two annotations that the policy must allow; OURS is the pod's namespace.
const USUAL: [&str; 8] = [
    "",
    "own",
    "own, default/shared@net1",
    "OURS/own@net1,open/x",
    r#"[{"name":"own"}]"#,
    r#"[{"name":"own","namespace":"OURS"},{"name":"x","namespace": "open"}]"#,
    "[\n  {\"name\": \"own\",\n   \"Namespace\" : \"default\", \"mac\": \"02:00:00:00:00:01\"}\n]",
    r#"[{"name":"own","cni-args":{"a":[1,{"b":"c"}]}}]"#,
];
/// Further texts, in which a namespace may hide.
const ODD: [&str; 15] = [
    r#"[{"name":"own","cni-args":{"PoolNames":["bank-pool"]}}]"#,
    r#"[{"name":"own","infiniband-guid":"02:00:00:00:00:00:00:01"}]"#,
    r#"[{"name":"own","Infiniband-GUID" :"02:00:00:00:00:00:00:01"}]"#,
    r#"[{"name":"own","cni-args":{"guid":"02:00:00:00:00:00:00:01","mellanox.infiniband.app":"configured"}}]"#,
    r#"[{"name":"own","deviceID":"0000:3b:00.0"}]"#,
    "bank/x",
    "own,bank/x@net1",
    " bank / x ",
    "\u{3000}bank/x",
    "OURS/bank/x",
    r#"[{"name":"x","name\u0073pace":"bank"}]"#,
    r#"[{"name":"x","namespace":"\u0062ank"}]"#,
    r#"[{"name":"x","nameſpace":"bank"}]"#,
    r#"[{"name":"x","NAMESPACE":"bank","namespace":"default"}]"#,
    "[{\"name\":\"x\",\"namespace\"\n:\t\"bank\"}]",
];

fn policy(plane: &Plane) -> Outcome {
    let export = ["--rule", "FAB301", "--namespace-isolation", "--open-namespace", "open"];
    let policies = Policies::apply(plane, &export)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let pod = |name: &str, key: &str, text: &str| {
        let mut pod = cpu_pod(name);
        pod["metadata"]["namespace"] = json!(namespace);
        pod["metadata"]["annotations"] = json!({key: text.replace("OURS", &namespace)});
        pod
    };
    let create = |pod: &Value| plane.kubectl(&["create", "--dry-run=server", "-f", "-"], &pod.to_string());
    policies.until("the policy is in force", || Ok(!create(&pod("a", NETWORKS, "bank/x"))?.ok))?;
    // What Go's decoder was asked, and what stands above.
    let recorded = read(&root().join("tests/recorded/go-json/selections.jsonl"))?;
    let recorded = recorded.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        Some(format!("[{}]", line["text"].as_str()?))
    });
    let texts: Vec<String> =
        USUAL.iter().chain(&ODD).map(|t| (*t).to_owned()).chain(recorded.step_by(20)).collect();
    let pods: Vec<(&str, Value)> = [NETWORKS, DEFAULT]
        .into_iter()
        .flat_map(|key| texts.iter().map(move |text| (key, text)))
        .filter(|(key, text)| !(*key == DEFAULT && text.is_empty()))
        .map(|(key, text)| (key, pod("p", key, text)))
        .collect();
    // The rule without rails: namespace open is open to the policy only.
    let all: String = pods.iter().map(|(_, pod)| format!("{pod}\n---\n")).collect();
    let ran = run(&["review", "-", "-o", "json", "--namespace-isolation"], all.as_bytes(), root())?;
    let report: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    let results = report["results"].as_array().ok_or("no results")?;
    assert_eq!(results.len(), pods.len());
    let mut refused = 0;
    for ((key, pod), result) in pods.iter().zip(results) {
        let text = pod["metadata"]["annotations"][key].as_str().unwrap_or_default();
        // What nobody can parse, Multus refuses.
        let names = |f: &Value| {
            let says = f["message"].to_string();
            f["rule"] == "FAB150"
                && (says.contains("in another namespace") || says.contains("annotation sets"))
        };
        let forbidden = result["findings"].as_array().into_iter().flatten().any(names);
        let usual = USUAL.iter().any(|usual| usual.replace("OURS", &namespace) == text);
        let done = create(pod)?;
        let policy = !done.ok && done.stderr.contains("FAB150");
        refused += usize::from(policy);
        assert!(done.ok || policy, "{text}: {}", done.stderr);
        assert!(policy || !forbidden || text.contains("open"), "let past: {key}: {text}");
        assert!(!(policy && usual), "refused: {key}: {text}: {}", done.stderr);
    }
    eprintln!("{refused} of {} pods are refused", pods.len());
    // To read it would take the API server ten seconds.
    for key in [NETWORKS, DEFAULT] {
        let done = create(&pod("long", key, &"own,".repeat(60_000)))?;
        assert!(!done.ok && done.stderr.contains("more than 8,000 characters"), "{key}: {}", done.stderr);
        let done = create(&pod("most", key, "own,".repeat(2_000).trim_end_matches(',')))?;
        assert!(done.ok, "{key}: {}", done.stderr);
        // Multus attaches no network to a pod in the network of its node.
        for text in [&"own,".repeat(60_000), ODD[0], "bank/x"] {
            let mut pod = pod("host", key, text);
            pod["spec"]["hostNetwork"] = true.into();
            let done = create(&pod)?;
            assert!(done.ok, "{key}: {}", done.stderr);
        }
    }
    // A change is judged as well, and what stands there may stay.
    let mut held = pod("held", "example.com/a", "b");
    held["metadata"]["annotations"][NETWORKS] = json!("own");
    held["spec"]["schedulingGates"] = json!([{"name": "example.com/held"}]);
    let done = plane.kubectl(&["create", "-f", "-"], &held.to_string())?;
    assert!(done.ok, "{}", done.stderr);
    for (key, value, allowed) in [
        (NETWORKS, "bank/x", false),
        (DEFAULT, "bank/x", false),
        (NETWORKS, "own,default/x", true),
        ("example.com/a", "c", true),
    ] {
        let change = json!({"metadata": {"annotations": {key: value}}}).to_string();
        let args = ["patch", "pod", "held", "-n", &namespace, "--type=merge", "-p", &change];
        let done = plane.kubectl(&args, "")?;
        assert_eq!(done.ok, allowed, "{key}: {value}: {}", done.stderr);
    }
    Ok(())
}

/// A claim may be created after its pod, and no webhook is asked about claims: the policies judge them by themselves, as
/// the rule does.
fn claims(plane: &Plane) -> Outcome {
    let export = ["--rule", "FAB301", "--namespace-isolation", "--open-namespace", "open"];
    let policies = Policies::apply(plane, &export)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let spec = |configs: &[Value]| {
        let request =
            json!({"name": "vf", "exactly": {"deviceClassName": "sriovnetwork.k8snetworkplumbingwg.io"}});
        let configs: Vec<Value> =
            configs.iter().map(|opaque| json!({"requests": ["vf"], "opaque": opaque})).collect();
        json!({"devices": {"requests": [request], "config": configs}})
    };
    let function = |parameters: Value| json!({"driver": "sriovnetwork.k8snetworkplumbingwg.io", "parameters": parameters});
    let of = |name: &str| {
        function(json!({"kind": "VfConfig", "netAttachDefName": "x", "netAttachDefNamespace": name}))
    };
    let link = |vf: Value| function(json!({"kind": "VfConfig", "netAttachDefName": "x", "vf": vf}));
    let other = json!({"driver": "gpu.nvidia.com", "parameters":
        {"netAttachDefName": "x", "netAttachDefNamespace": "bank", "vf": {"vlan": 1234}}});
    let without = function(json!({"kind": "VfConfig", "netAttachDefName": "x"}));
    let cases = [
        (vec![of("bank")], false),
        (vec![without.clone(), other.clone(), of("bank")], false),
        (vec![function(json!({"netAttachDefName": "x", "netAttachDefNamespace": ["bank"]}))], false),
        (vec![link(json!({"vlan": 1234}))], false),
        (vec![without.clone(), link(json!({"trust": true}))], false),
        (vec![link(json!({"spoofChk": false}))], false),
        (vec![link(json!({"trust": false, "spoofChk": true, "maxTxRate": 1000}))], true),
        (vec![], true),
        (vec![without, other, of(&namespace), of("default"), of("open"), of("")], true),
    ];
    let object = |kind: &str, spec: &Value| {
        let spec = if kind == "ResourceClaim" { spec.clone() } else { json!({"spec": spec}) };
        json!({"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "c", "namespace": namespace}, "spec": spec})
    };
    let create =
        |object: &Value| plane.kubectl(&["create", "--dry-run=server", "-f", "-"], &object.to_string());
    for kind in ["ResourceClaim", "ResourceClaimTemplate"] {
        let refused = object(kind, &spec(&[of("bank")]));
        policies.until("the policy is in force", || Ok(!create(&refused)?.ok))?;
        for (configs, allowed) in &cases {
            let done = create(&object(kind, &spec(configs)))?;
            assert_eq!(done.ok, *allowed, "{kind} {configs:?}: {}", done.stderr);
            assert!(done.ok || done.stderr.contains("FAB150 a VfConfig"), "{kind}: {}", done.stderr);
        }
    }
    Ok(())
}
