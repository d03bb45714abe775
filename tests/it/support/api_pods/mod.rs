//! Pods by chance that an API server of 1.36 takes: every optional field that matters to us, absent, `null`, empty or
//! set, in every combination that validation lets through. Where a combination is forbidden, and the rule is not
//! worth writing down here, the API server says so and the pod is left out.

pub(crate) mod adverse;
mod containers;
mod volumes;

use crate::support::generated_documents::{Dice, put};
use crate::support::{complete_pods, generated_cases};
use serde_json::{Value, json};

/// Pods that have their own networks and units, as public guides write them (percent).
const COMPLETE: usize = 10;

/// Names by which pods name a profile.
pub(crate) struct Site<'a> {
    pub(crate) profiles: &'a [&'a str],
}

/// A pod of a site.
pub(crate) fn pod(site: &Site<'_>, dice: &mut Dice<'_>) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata(site, dice)});
    let windows = dice.percent(3);
    let mut spec = json!({});
    if dice.percent(3) {
        spec["futureField"] = json!({"a/b~c": [1.0, null, {"x": "é\"\\"}]});
    }
    spec["volumes"] = volumes::list(dice);
    let volumes = spec["volumes"].as_array().cloned().unwrap_or_default();
    if volumes.is_empty() {
        match dice.below(3) {
            0 => drop(spec.as_object_mut().map(|s| s.remove("volumes"))),
            1 => spec["volumes"] = Value::Null,
            _ => {}
        }
    }
    put(&mut spec, "resourceClaims", 2, dice, |dice| {
        let key = dice.pick(&["resourceClaimTemplateName", "resourceClaimName"]);
        json!([{"name": "nic", key: "n"}, {"name": "gpu", "resourceClaimTemplateName": "g"}])
    });
    let claims = spec["resourceClaims"].is_array();
    let mut names = ["trainer", "worker", "sidecar", "istio-proxy", "ssh", "a", "b"];
    // A walk through the names, so that no two containers have the same.
    for at in (1..names.len()).rev() {
        names.swap(at, dice.below(at + 1));
    }
    let inits = if dice.percent(35) { 1 + dice.below(2) } else { 0 };
    let apps = 1 + dice.below(3);
    let make = |name: &str, init: bool, dice: &mut Dice<'_>| {
        containers::container(name, init, claims, &volumes, dice)
    };
    spec["containers"] = (0..apps).map(|n| make(names[n], false, dice)).collect();
    if inits > 0 {
        spec["initContainers"] = (0..inits).map(|n| make(names[3 + n], true, dice)).collect();
    } else if dice.percent(20) {
        spec["initContainers"] = dice.pick(&[Value::Null, json!([])]);
    }
    if windows {
        spec["os"] = json!({"name": "windows"});
        containers::each(&mut spec, |container| {
            container.as_object_mut().map(|c| c.remove("securityContext"));
        });
    } else {
        put(&mut spec, "os", 8, dice, |_| json!({"name": "linux"}));
        linux(&mut spec, dice);
    }
    around(&mut spec, dice);
    pod["spec"] = spec;
    if !windows && dice.percent(COMPLETE) {
        complete_pods::give(&mut pod, dice);
    }
    put(&mut pod, "status", 5, dice, |_| json!({"phase": "Pending"}));
    if pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_string() {
        // Only the kubelet makes mirror pods, of pods on its own node that refer to nothing else.
        pod["spec"]["nodeName"] = "node-7".into();
        pod["spec"]["volumes"] = Value::Null;
        pod["spec"].as_object_mut().map(|s| s.remove("schedulingGates"));
        containers::each(&mut pod["spec"], |container| {
            for key in ["volumeMounts", "volumeDevices", "env", "envFrom"] {
                container.as_object_mut().map(|c| c.remove(key));
            }
        });
    }
    pod
}

/// The pod as a level of Pod Security takes it: 1 is baseline, 2 restricted.
pub(crate) fn at_level(pod: &mut Value, level: usize) {
    if level == 0 {
        return;
    }
    let Some(spec) = pod["spec"].as_object_mut() else { return };
    for key in ["hostNetwork", "hostIPC", "hostPID"] {
        spec.remove(key);
    }
    for volume in spec.get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten() {
        if volume["hostPath"].is_object() {
            *volume = json!({"name": volume["name"], "emptyDir": {}});
        }
    }
    containers::each(&mut pod["spec"], |container| containers::at_level(container, level));
}

/// What Windows pods may not have.
fn linux(spec: &mut Value, dice: &mut Dice<'_>) {
    let mut host = false;
    for (key, percent) in [("hostNetwork", 4), ("hostIPC", 5), ("hostPID", 4)] {
        put(spec, key, percent, dice, |dice| dice.percent(70).into());
        host |= spec[key] == true;
    }
    if !host {
        put(spec, "hostUsers", 8, dice, |dice| dice.percent(50).into());
        put(spec, "shareProcessNamespace", 6, dice, |dice| dice.percent(50).into());
    }
    put(spec, "securityContext", 35, dice, |dice| {
        let mut context = json!({});
        put(&mut context, "runAsUser", 20, dice, |dice| dice.pick(&[0, 1000]).into());
        put(&mut context, "runAsNonRoot", 25, dice, |dice| dice.percent(60).into());
        put(&mut context, "fsGroup", 15, dice, |_| 2000.into());
        put(&mut context, "supplementalGroups", 10, dice, |dice| dice.pick(&[json!([44]), json!([])]));
        put(&mut context, "seccompProfile", 40, dice, |_| json!({"type": "RuntimeDefault"}));
        put(&mut context, "sysctls", 5, dice, |_| json!([{"name": "net.core.somaxconn", "value": "1024"}]));
        context
    });
}

/// What stands around the containers.
fn around(spec: &mut Value, dice: &mut Dice<'_>) {
    put(spec, "resources", 8, dice, |dice| {
        let mut resources = json!({});
        put(&mut resources, "limits", 60, dice, |_| json!({"cpu": "1k", "memory": "64Ti"}));
        put(&mut resources, "requests", 40, dice, |_| json!({"cpu": "900", "memory": "60Ti"}));
        resources
    });
    put(spec, "restartPolicy", 40, dice, |dice| dice.pick(&["Never", "OnFailure", "Always"]).into());
    put(spec, "automountServiceAccountToken", 20, dice, |dice| dice.percent(30).into());
    put(spec, "priorityClassName", 8, dice, |_| "e2e-high".into());
    put(spec, "runtimeClassName", 8, dice, |_| "e2e-kata".into());
    if spec["runtimeClassName"].is_string() {
        put(spec, "overhead", 30, dice, |_| json!({"cpu": "250m", "memory": "120Mi"}));
    }
    if dice.percent(5) {
        spec["schedulingGates"] = json!([{"name": "example.com/quota"}]);
    } else {
        put(spec, "nodeName", 4, dice, |_| "node-7".into());
    }
    put(spec, "nodeSelector", 25, dice, |dice| {
        let mut labels = json!({});
        put(&mut labels, "fabric", 50, dice, |dice| dice.pick(&["roce", "ib", ""]).into());
        put(&mut labels, "rack", 30, dice, |dice| dice.pick(&["r1", "r9"]).into());
        labels
    });
    put(spec, "tolerations", 20, dice, |dice| {
        dice.pick(&[
            json!([]),
            json!([{"operator": "Exists"}]),
            json!([{"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}]),
        ])
    });
    put(spec, "affinity", 40, dice, affinity);
    put(
        spec,
        "topologySpreadConstraints",
        8,
        dice,
        |_| json!([{"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}]),
    );
    put(spec, "dnsConfig", 6, dice, |_| json!({"options": [{"name": "ndots", "value": "2"}]}));
    put(spec, "hostname", 8, dice, |_| "rank-0".into());
    put(spec, "subdomain", 8, dice, |_| "ranks".into());
    put(spec, "enableServiceLinks", 10, dice, |dice| dice.percent(50).into());
    put(spec, "terminationGracePeriodSeconds", 10, dice, |_| 600.into());
    put(spec, "imagePullSecrets", 8, dice, |dice| dice.pick(&[json!([]), json!([{"name": "pull"}])]));
}

fn affinity(dice: &mut Dice<'_>) -> Value {
    let mut affinity = json!({});
    put(&mut affinity, "podAntiAffinity", 30, dice, |_| {
        json!({"requiredDuringSchedulingIgnoredDuringExecution":
            [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}}]})
    });
    put(&mut affinity, "nodeAffinity", 80, dice, |dice| {
        let mut node = json!({});
        put(
            &mut node,
            "preferredDuringSchedulingIgnoredDuringExecution",
            25,
            dice,
            |_| json!([{"weight": 7, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}]),
        );
        put(&mut node, "requiredDuringSchedulingIgnoredDuringExecution", 80, dice, |dice| {
            let many = if dice.percent(6) { 300 } else { 3 };
            let count = 1 + dice.below(many);
            json!({"nodeSelectorTerms": (0..count).map(|_| term(dice)).collect::<Vec<_>>()})
        });
        node
    });
    affinity
}

fn term(dice: &mut Dice<'_>) -> Value {
    let mut term = json!({});
    put(&mut term, "matchExpressions", 75, dice, |dice| {
        let expressions = [
            json!({"key": "fabric", "operator": "In", "values": ["roce"]}),
            json!({"key": "rack", "operator": "In", "values": ["r2", "r1"]}),
            json!({"key": "rack", "operator": "NotIn", "values": ["r3", ""]}),
            json!({"key": "zone", "operator": "Exists"}),
            json!({"key": "zone", "operator": "DoesNotExist", "values": null}),
            json!({"key": "gpus", "operator": "Gt", "values": ["4"]}),
        ];
        (0..dice.below(4)).map(|_| dice.pick(&expressions)).collect()
    });
    put(
        &mut term,
        "matchFields",
        20,
        dice,
        |_| json!([{"key": "metadata.name", "operator": "In", "values": ["node-7"]}]),
    );
    term
}

fn metadata(site: &Site<'_>, dice: &mut Dice<'_>) -> Value {
    let mut metadata = match dice.below(3) {
        0 => json!({"generateName": "trainer-"}),
        1 => json!({"generateName": "trainer-", "name": "trainer-0"}),
        _ => json!({"name": "trainer-0"}),
    };
    put(&mut metadata, "labels", 60, dice, |dice| {
        let mut labels = json!({});
        put(&mut labels, "app", 60, dice, |_| "x".into());
        put(&mut labels, "training.kubeflow.org/job-role", 15, dice, |_| "worker".into());
        put(&mut labels, "training.kubeflow.org/operator-name", 15, dice, |_| "mpi-operator".into());
        labels
    });
    put(&mut metadata, "finalizers", 6, dice, |_| json!(["example.com/keep"]));
    put(
        &mut metadata,
        "ownerReferences",
        15,
        dice,
        |_| json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1", "controller": true, "blockOwnerDeletion": true}]),
    );
    put(&mut metadata, "annotations", 92, dice, |dice| annotations(site, dice));
    metadata
}

fn annotations(site: &Site<'_>, dice: &mut Dice<'_>) -> Value {
    let mut annotations = json!({});
    if dice.percent(96) {
        let profile = if dice.percent(1) { "p9" } else { dice.pick(site.profiles) };
        annotations["fabric-admission.dev/profile"] = profile.into();
    }
    put(&mut annotations, "k8s.v1.cni.cncf.io/networks", 12, dice, |dice| {
        generated_cases::networks(dice).into()
    });
    put(&mut annotations, "fabric-admission.dev/rails", 3, dice, |dice| dice.pick(&["s0", "s1"]).into());
    for (key, percent, values) in [
        ("fabric-admission.dev/inject", 3, &["false", "true"][..]),
        ("fabric-admission.dev/ranks", 6, &["ssh"]),
        ("fabric-admission.dev/containers", 5, &["trainer", "worker", "a,b"]),
        ("fabric-admission.dev/injected", 4, &["roce@0", ""]),
        ("fabric-admission.dev/multi-node", 4, &["true", "false"]),
        ("networking.gke.io/interfaces", 2, &["[]"]),
        ("k8s.v1.cni.cncf.io/network-status", 5, &["[]"]),
        ("kubernetes.io/config.mirror", 1, &["x"]),
        ("example.com/note", 30, &["a\"b\\c\n\u{e9}", ""]),
    ] {
        // Not `null` now and then: to the API server that is the empty text, and present.
        if dice.percent(percent) {
            annotations[key] = dice.pick(values).into();
        }
    }
    // All annotations of an object together may have 256 KiB.
    put(&mut annotations, "example.com/large", 2, dice, |_| "x".repeat(261_900).into());
    annotations
}
