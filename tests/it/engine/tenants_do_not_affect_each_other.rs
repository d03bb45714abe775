//! Tenants apart: no object in the namespace of one changes an answer for another, and a caller that nobody has identified
//! learns nothing beyond what the profiles for the namespace that it claims publish (docs/adr/0021).

mod clusters_that_differ;
mod limits_and_hidden_profiles;

use self::clusters_that_differ::{SECRET, invented, with_secrets};
use crate::support::generated_documents::{Dice, Documents, put};
use crate::support::generated_world::bases;
use crate::support::run_property::check;
use crate::support::suite::Suite;
use fabric_admission::decision_limits::NEVER;
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::admission_response::render;
use fabric_admission::review::decide_webhook_request::{
    SnapshotForAudience, WebhookEntry, decide_body_within_deadline,
};
use fabric_admission::snapshot::{Audience, Builder, Layer, Settings, Snapshot};
use serde_json::{Value, json};

/// Adds the trials.
pub(crate) fn add(suite: &mut Suite) {
    suite.add("tenants::objects_of_one_change_no_answer_for_another", || {
        check("tenants::interference", 60, Documents(case), |case| apart(&case.0))
    });
    suite.add("tenants::anyone_learns_nothing_that_is_not_published", || {
        check("tenants::secrets", 60, Documents(case), |case| secret(&case.0))
    });
    suite.add("tenants::hints_reveal_no_hidden_profile", || {
        Ok(limits_and_hidden_profiles::hints_beside_hidden_profiles()?)
    });
    suite.add("tenants::limits_reveal_no_hidden_profile", || {
        Ok(limits_and_hidden_profiles::limits_of_hidden_profiles()?)
    });
    suite.add("tenants::a_selector_reveals_no_more_than_the_profile", || {
        check("tenants::selectors", 60, Documents(case), |case| selectors(&case.0))
    });
}

/// The tenant who asks, and another one.
const MINE: &str = "mine";
const OTHER: &str = "other";
/// Namespaces whose objects count for everybody: those of operators, and that of the profiles' rails.
const OPERATOR: &str = "sriov-network-operator";
const RAILS: &str = "fabric";

/// An interface that only a tenant's networks name.
const CANARY: &str = "net7";

const RESOURCES: [&str; 3] = ["x.com/east", "x.com/west", "rdma/shared"];
const NAMES: [&str; 3] = ["east", "west", "net"];

/// A cluster, what the other tenant has in it, and reviews.
fn case(dice: &mut Dice<'_>) -> Value {
    let mut cluster: Vec<Value> = (0..1 + dice.below(3)).map(|n| profile(n, dice)).collect();
    cluster.extend((0..dice.below(4)).map(|n| node(n, dice)));
    cluster.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MINE, "labels": {"team": "mine"}}}));
    for namespace in [MINE, "default", RAILS, OPERATOR] {
        cluster.extend((0..dice.below(5)).map(|_| object(namespace, dice)));
    }
    let foreign: Vec<Value> = (0..1 + dice.below(8)).map(|_| object(OTHER, dice)).collect();
    let pods: Vec<Value> = (0..3).map(|_| pod(dice)).collect();
    let objects: Vec<Value> = (0..4).map(|_| object(MINE, dice)).collect();
    json!({"cluster": cluster, "foreign": foreign, "pods": pods, "objects": objects, "live": dice.percent(50)})
}

fn profile(number: usize, dice: &mut Dice<'_>) -> Value {
    let fabric = dice.pick(&["east", "west"]);
    let mut spec = json!({
        "base": dice.pick(&["roce-sriov", "roce-sriov", "roce-macvlan", "infiniband-sriov", "nri-compat"]),
        "nodeSelector": {"matchLabels": {"fabric": fabric}},
    });
    put(&mut spec, "rails", 70, dice, |dice| {
        let network = format!("{}/{}", dice.pick(&[RAILS, RAILS, "default"]), dice.pick(&NAMES));
        json!([{"network": network, "resource": dice.pick(&RESOURCES[..2]), "count": dice.pick(&[1, 4, 8])}])
    });
    put(
        &mut spec,
        "namespaces",
        40,
        dice,
        |dice| json!({"matchLabels": {"team": dice.pick(&["mine", "other"])}}),
    );
    let metadata = json!({"name": format!("p{number}")});
    json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": metadata, "spec": spec})
}

fn node(number: usize, dice: &mut Dice<'_>) -> Value {
    let name = format!("n{number}");
    let mut labels = json!({"kubernetes.io/hostname": name, "fabric": dice.pick(&["east", "west", "none"])});
    put(&mut labels, "nvidia.com/ofed-driver-upgrade-state", 50, dice, |_| "upgrade-done".into());
    let mut allocatable = json!({"nvidia.com/gpu": "8"});
    for resource in RESOURCES {
        put(&mut allocatable, resource, 60, dice, |_| "8".into());
    }
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": allocatable}})
}

/// A namespaced object of any kind that gives facts; few names, so that they meet.
fn object(namespace: &str, dice: &mut Dice<'_>) -> Value {
    const SRIOV: &str = "sriovnetwork.openshift.io/v1";
    let name = dice.pick(&NAMES);
    let resource = dice.pick(&RESOURCES);
    let suffix = dice.pick(&["east", "west", "shared"]);
    // A tenant may name any interface; CANARY differs between the worlds of the property on secrets.
    let nic = match namespace == MINE {
        true => dice.pick(&["ens1", "ibs1", CANARY]),
        false => dice.pick(&["ens1", "ibs1"]),
    };
    let mut metadata = json!({"name": name, "namespace": namespace});
    let (api, kind, spec) = match dice.below(16) {
        0..=2 => {
            put(
                &mut metadata,
                "annotations",
                80,
                dice,
                |_| json!({"k8s.v1.cni.cncf.io/resourceName": resource}),
            );
            let plugin = dice.pick(&["sriov", "ib-sriov", "host-device", "macvlan", "ipoib"]);
            let mut config =
                json!({"cniVersion": "1.0.0", "name": name, "type": plugin, "master": nic, "device": nic});
            put(&mut config, "ipam", 70, dice, |dice| match dice.below(3) {
                0 => json!({"type": "nv-ipam", "poolName": dice.pick(&NAMES)}),
                1 => json!({"type": "whereabouts", "range": "10.0.0.0/16"}),
                _ => json!({"type": "static"}),
            });
            ("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", json!({"config": config.to_string()}))
        }
        3 | 4 => {
            let kind = dice.pick(&["SriovNetwork", "SriovIBNetwork", "OVSNetwork"]);
            let mut spec = json!({"resourceName": suffix});
            put(&mut spec, "networkNamespace", 70, dice, |dice| dice.pick(&[MINE, RAILS, "default"]).into());
            (SRIOV, kind, spec)
        }
        5 | 6 => (
            SRIOV,
            "SriovNetworkNodePolicy",
            json!({
                "resourceName": suffix, "numVfs": 8, "nodeSelector": {"fabric": "east"}, "nicSelector": {"pfNames": [nic]},
                "isRdma": dice.percent(50), "linkType": dice.pick(&["eth", "ib"]), "priority": dice.pick(&[1, 99]),
            }),
        ),
        7 | 8 => {
            metadata["name"] = format!("n{}", dice.below(4)).into();
            let link = dice.pick(&["ETH", "IB"]);
            let groups = json!([{"resourceName": suffix, "isRdma": dice.percent(50), "policyName": "p"}]);
            let nics = json!([{"name": nic, "pciAddress": "0:1", "linkType": link, "mtu": 4000 + dice.below(9), "vfGroups": groups, "totalvfs": 4}]);
            let mode = dice.pick(&["shared", "exclusive"]);
            let status = json!({"interfaces": nics, "system": {"rdmaMode": mode}, "syncStatus": dice.pick(&["Succeeded", "InProgress"])});
            return json!({"apiVersion": SRIOV, "kind": "SriovNetworkNodeState", "metadata": metadata, "spec": {"interfaces": nics}, "status": status});
        }
        9 => (
            SRIOV,
            "SriovNetworkPoolConfig",
            json!({"nodeSelector": {"matchLabels": {"fabric": "east"}}, "maxUnavailable": 1}),
        ),
        10 => {
            metadata["name"] = "default".into();
            (SRIOV, "SriovOperatorConfig", json!({"enableOperatorWebhook": dice.percent(50)}))
        }
        11 => {
            let kind = dice.pick(&["IPPool", "CIDRPool"]);
            let block = dice.pick(&[1, 64]);
            (
                "nv-ipam.nvidia.com/v1alpha1",
                kind,
                json!({"subnet": "10.0.0.0/16", "cidr": "10.0.0.0/16", "perNodeBlockSize": block, "gateway": "10.0.0.1"}),
            )
        }
        12 => {
            let pool = json!({"resourceName": suffix, "rdmaHcaMax": 63, "selectors": {"ifNames": [nic], "linkTypes": [dice.pick(&["ether", "infiniband"])]}});
            let config = json!({"configList": [pool]}).to_string();
            let list = json!({"resourceList": [{"resourcePrefix": "x.com", "resourceName": suffix, "selectors": {"isRdma": dice.percent(50), "linkTypes": ["ether"]}}]});
            let data = if dice.percent(50) {
                json!({"config.json": config})
            } else {
                json!({"config.json": list.to_string()})
            };
            return json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
        }
        13 => {
            let data = json!({"NCCL_IB_DISABLE": "1", "run.sh": "export NCCL_NET=Socket"});
            return json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
        }
        14 => {
            let class = dice.pick(&["gpu.nvidia.com", "dranet", "sriovnetwork.k8snetworkplumbingwg.io"]);
            let devices = json!({"requests": [{"name": "r", "exactly": {"deviceClassName": class, "count": dice.pick(&[1, 8])}}]});
            match dice.percent(50) {
                true => {
                    ("resource.k8s.io/v1", "ResourceClaimTemplate", json!({"spec": {"devices": devices}}))
                }
                false => ("resource.k8s.io/v1", "ResourceClaim", json!({"devices": devices})),
            }
        }
        _ => {
            let template = json!({"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": gpu_spec(dice)}}}}]}});
            (
                "trainer.kubeflow.org/v1alpha1",
                "TrainingRuntime",
                json!({"template": template, "mlPolicy": {"numNodes": 2}}),
            )
        }
    };
    json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec})
}

fn gpu_spec(dice: &mut Dice<'_>) -> Value {
    let mut limits = json!({"nvidia.com/gpu": dice.pick(&["8", "8", "1", "9"])});
    for resource in RESOURCES {
        put(&mut limits, resource, 30, dice, |dice| dice.pick(&["1", "8", "9"]).into());
    }
    let mut container =
        json!({"name": "trainer", "image": "example.com/trainer:1", "resources": {"limits": limits}});
    put(&mut container, "envFrom", 25, dice, |dice| json!([{"configMapRef": {"name": dice.pick(&NAMES)}}]));
    let mut spec = json!({"containers": [container]});
    put(
        &mut spec,
        "nodeSelector",
        40,
        dice,
        |dice| json!({"fabric": dice.pick(&["east", "west", "none", "gone"])}),
    );
    put(
        &mut spec,
        "resourceClaims",
        25,
        dice,
        |dice| json!([{"name": "c", dice.pick(&["resourceClaimName", "resourceClaimTemplateName"]): dice.pick(&NAMES)}]),
    );
    spec
}

fn pod(dice: &mut Dice<'_>) -> Value {
    let mut annotations = json!({});
    put(&mut annotations, "fabric-admission.dev/profile", 30, dice, |dice| {
        dice.pick(&["p0", "p1", "p9"]).into()
    });
    put(&mut annotations, "k8s.v1.cni.cncf.io/networks", 60, dice, |dice| {
        let network = |dice: &mut Dice<'_>| {
            let name = dice.pick(&NAMES);
            match dice.pick(&["", "", RAILS, "default", MINE, OTHER, OPERATOR]) {
                "" => name.to_owned(),
                namespace => format!("{namespace}/{name}"),
            }
        };
        (0..1 + dice.below(3)).map(|_| network(dice)).collect::<Vec<_>>().join(",").into()
    });
    let metadata = json!({"name": "trainer", "namespace": MINE, "annotations": annotations});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": gpu_spec(dice)})
}

/// What the server knows of some objects.
fn snapshot(objects: &[Value], live: bool) -> Snapshot {
    let mut builder = Builder::new(bases().to_vec());
    let operator_namespaces = Some([OPERATOR.to_owned()].into());
    builder.replace_settings(Settings { operator_namespaces, ..Settings::default() });
    let layer = if live { Layer::Live } else { Layer::Cluster };
    for object in objects {
        let api = object["apiVersion"].as_str().unwrap_or_default();
        let group = api.split_once('/').map_or("", |(group, _)| group);
        let kind = object["kind"].as_str().unwrap_or_default();
        // What shrinking has made unreadable is not known.
        drop(builder.add(layer, group, kind, &object.to_string(), "default"));
    }
    builder.set_listed(fabric_admission::facts::FactKind::NetworkAttachmentDefinition, live);
    builder.build()
}

fn list(case: &Value, key: &str) -> Vec<Value> {
    case[key].as_array().cloned().unwrap_or_default()
}

/// Objects of a namespace, whatever shrinking has made of it.
fn within(case: &Value, key: &str, namespace: &str) -> Vec<Value> {
    let mut all = list(case, key);
    for object in all.iter_mut().filter(|object| object["metadata"].is_object()) {
        object["metadata"]["namespace"] = namespace.into();
    }
    all.into_iter().filter(|object| object["metadata"].is_object()).collect()
}

/// Every answer to a tenant's reviews.
fn answers(case: &Value, snapshot: &Snapshot, audience: Audience) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut ask = |entry: WebhookEntry, object: &Value, old: Option<&Value>| {
        let some = if object.is_null() { old.unwrap_or(object) } else { object };
        let api = some["apiVersion"].as_str().unwrap_or_default();
        let (group, version) = api.split_once('/').unwrap_or(("", api));
        let operation = match old {
            Some(_) if object.is_null() => "DELETE",
            Some(_) => "UPDATE",
            None => "CREATE",
        };
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u", "kind": {"group": group, "version": version, "kind": some["kind"]}, "namespace": some["metadata"]["namespace"],
            "operation": operation, "object": object, "oldObject": old,
        }});
        let answer = match decide_body_within_deadline(
            review.to_string().as_bytes(),
            entry,
            SnapshotForAudience { snapshot, audience },
            &NEVER,
        ) {
            Ok(answer) => String::from_utf8_lossy(&render(&answer)).into_owned(),
            Err(error) => error.to_string(),
        };
        all.push((format!("{entry:?} {operation} of {some}"), answer));
    };
    for pod in within(case, "pods", MINE) {
        ask(WebhookEntry::Mutate, &pod, None);
        ask(WebhookEntry::Validate, &pod, None);
        ask(WebhookEntry::Audit, &pod, None);
        let mut stored = pod.clone();
        stored["metadata"]["annotations"] = json!({});
        ask(WebhookEntry::Networks, &pod, Some(&stored));
        let template = json!({"metadata": pod["metadata"], "spec": pod["spec"]});
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": MINE},
            "spec": {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": template}});
        ask(WebhookEntry::Workload(EnforcementMode::Enforce), &job, None);
        let train = json!({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "t", "namespace": MINE},
            "spec": {"runtimeRef": {"kind": "TrainingRuntime", "name": "east"}, "trainer": {"numNodes": 2}}});
        ask(WebhookEntry::Workload(EnforcementMode::Enforce), &train, None);
    }
    for object in within(case, "objects", MINE) {
        ask(WebhookEntry::Object(EnforcementMode::Enforce), &object, None);
    }
    for object in list(case, "invented") {
        ask(WebhookEntry::Object(EnforcementMode::Enforce), &object, None);
        let mut other = object.clone();
        other["spec"]["env"] = json!([{"name": "NCCL_IB_TC", "value": "106"}]);
        ask(WebhookEntry::Object(EnforcementMode::Enforce), &other, Some(&object));
        ask(WebhookEntry::Object(EnforcementMode::Enforce), &Value::Null, Some(&object));
    }
    all
}

fn same(first: &[(String, String)], second: &[(String, String)]) -> Result<(), String> {
    match first.iter().zip(second).find(|(a, b)| a != b) {
        Some(((asked, first), (_, second))) => Err(format!("{asked}\n{first}\n{second}")),
        None => Ok(()),
    }
}

fn apart(case: &Value) -> Result<(), String> {
    let live = case["live"] == true;
    let cluster = list(case, "cluster");
    let with: Vec<Value> = cluster.iter().cloned().chain(within(case, "foreign", OTHER)).collect();
    let (with, without) = (snapshot(&with, live), snapshot(&cluster, live));
    for audience in [Audience::Anyone, Audience::Tenant] {
        same(&answers(case, &without, audience), &answers(case, &with, audience))?;
    }
    Ok(())
}

fn secret(case: &Value) -> Result<(), String> {
    let mut case = case.clone();
    let more = invented();
    case["invented"] = more.into();
    let live = case["live"] == true;
    let answers =
        [0, 1].map(|world| answers(&case, &snapshot(&with_secrets(&case, world), live), Audience::Anyone));
    same(&answers[0], &answers[1])?;
    // The caller's own words come back.
    let leaked = answers[0]
        .iter()
        .chain(&answers[1])
        .find(|(asked, answer)| answer.contains(SECRET) && !asked.contains(SECRET));
    leaked.map_or(Ok(()), |(asked, answer)| Err(format!("{asked}\n{answer}")))
}

/// What a selector decides: the profile, or why there is none.
fn outcome(answer: &str) -> (Option<String>, String, Vec<bool>) {
    let review: Value = serde_json::from_str(answer).unwrap_or_default();
    let response = &review["response"];
    let text = response.to_string();
    let audit = &response["auditAnnotations"];
    // A chosen profile that does not apply, because the pod has too few accelerators, is named in the evidence.
    let unused =
        audit["evidence"].as_str().and_then(|e| e.strip_prefix("profile ")?.split_once(" does not apply"));
    let profile = audit["profile"].as_str().or(unused.map(|(name, _)| name)).map(str::to_owned);
    let allowed = response["allowed"] == true;
    let mut kinds: Vec<bool> =
        ["FAB803", "FAB805", "FAB806"].iter().map(|rule| text.contains(rule)).collect();
    kinds.push(allowed);
    // The profiles between which nothing decides: they are some of those that admit the namespace.
    let several = text.split_once("FAB806").and_then(|(_, rest)| rest.split_once('(')?.1.split_once(')'));
    (profile, several.map_or_else(String::new, |(names, _)| names.to_owned()), kinds)
}

/// Pods that ask for labels which no profile selects: the answer depends on the nodes only by the profile that it gives.
fn selectors(case: &Value) -> Result<(), String> {
    let mut case = case.clone();
    let racks = ["r0", "r1", "r2"];
    if let Some(pods) = case["pods"].as_array_mut() {
        for (pod, rack) in pods.iter_mut().zip(racks).filter(|(pod, _)| pod["spec"].is_object()) {
            if pod["spec"]["nodeSelector"].is_object() {
                pod["spec"]["nodeSelector"]["rack"] = rack.into();
            } else {
                pod["spec"]["nodeSelector"] = json!({"rack": rack});
            }
        }
    }
    let live = case["live"] == true;
    let answers =
        [0, 1].map(|world| answers(&case, &snapshot(&with_secrets(&case, world), live), Audience::Anyone));
    let (first, second) = (&answers[0], &answers[1]);
    let differing = first.iter().zip(second).find(|((asked, a), (_, b))| {
        // The mutating entry names no profile: the other ones show what it depends on.
        a != b && !asked.starts_with("Mutate") && outcome(a) == outcome(b)
    });
    differing.map_or(Ok(()), |((asked, a), (_, b))| Err(format!("{asked}\n{a}\n{b}")))
}
