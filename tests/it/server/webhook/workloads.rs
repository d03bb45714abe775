//! Workloads: reported when they are created, once, and never refused for what they were before.

use crate::support::round_trip::{documents, same};
use crate::support::server::{PROFILE, Server, review};
use crate::support::suite::{Outcome, Suite};
use crate::support::{read, root};
use fabric_admission::pod::workload_kinds::{KINDS, WorkloadKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("webhook::workloads_are_warned_of_or_refused_by_setting", settings);
    suite.add("webhook::warnings_of_workloads_name_the_template_and_come_once", warnings);
    suite.add("webhook::workloads_in_audit_are_reported_and_never_refused", audit);
    suite.add("webhook::pods_of_a_reviewed_workload_are_not_reported_again", owned);
    suite.add("webhook::an_update_is_judged_by_what_it_brings", ratchet);
    suite.add("webhook::suspended_workloads_may_wait_for_a_queue", suspended);
    suite.add("webhook::a_network_object_is_judged_by_what_an_update_brings", ratchet_of_objects);
    suite.add("webhook::parts_of_workloads_are_left_alone", parts);
    suite.add("webhook::a_train_job_is_reviewed_by_its_own_fields", train_job);
    suite.add("webhook::an_ignored_finding_is_only_in_the_audit_log", set_aside);
    suite.add("webhook::kinds_of_workloads_are_those_of_the_configuration", || Ok(kinds()?));
}

const JOB: (&str, &str) = ("batch", "Job");
const PYTORCH: (&str, &str) = ("kubeflow.org", "PyTorchJob");

fn template(env: &Value) -> Value {
    json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "h100"}}, "spec": {"containers": [{
        "name": "trainer", "image": "example.com/t:1", "command": ["all_reduce_perf"], "env": env,
        "resources": {"limits": {"nvidia.com/gpu": "8"}}
    }]}})
}

/// What FAB401 refuses under a profile that brings RDMA devices.
fn fault() -> Value {
    json!([{"name": "NCCL_IB_DISABLE", "value": "1"}])
}

fn job(template: &Value) -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}})
}

fn pytorch(master: &Value, worker: &Value) -> Value {
    json!({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "p"}, "spec": {
        "pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": master}, "Worker": {"replicas": 3, "template": worker}}
    }})
}

fn server(setting: &str) -> Result<Server, String> {
    Server::start(
        &[("profiles.yaml", PROFILE)],
        &["--profiles", "profiles.yaml", "--workloads", setting, "--network-objects", "enforce"],
    )
}

fn ask(
    server: &Server,
    path: &str,
    kind: (&str, &str),
    operation: &str,
    (new, old): (&Value, &Value),
) -> Result<Value, String> {
    let mut body = review("u", kind, operation, new);
    body["request"]["oldObject"] = old.clone();
    Ok(server.post(path, body.to_string().as_bytes())?.json()?["response"].clone())
}

fn create(server: &Server, kind: (&str, &str), object: &Value) -> Result<Value, String> {
    ask(server, "/validate-workload", kind, "CREATE", (object, &Value::Null))
}

fn texts_of(answer: &Value) -> Vec<String> {
    let texts = answer["warnings"].as_array().into_iter().flatten();
    texts.filter_map(|t| t.as_str().map(str::to_owned)).collect()
}

fn settings() -> Outcome {
    let bad = job(&template(&fault()));
    let good = job(&template(&json!([])));
    for (setting, allowed, speaks) in [("warn", true, true), ("deny", false, false), ("off", true, false)] {
        let server = server(setting)?;
        let answer = create(&server, JOB, &bad)?;
        assert_eq!(answer["allowed"], allowed, "{setting}: {answer}");
        assert_eq!(texts_of(&answer).iter().any(|t| t.contains("FAB401")), speaks, "{setting}: {answer}");
        assert!(answer.get("patch").is_none(), "{answer}");
        if setting == "deny" {
            let message = answer["status"]["message"].as_str().unwrap_or_default();
            assert!(
                message.contains("FAB401 /spec/template/spec/containers/0/env/0: "),
                "{setting}: {message}"
            );
        }
        let answer = create(&server, JOB, &good)?;
        assert!(answer["allowed"] == true && !answer.to_string().contains("FAB4"), "{setting}: {answer}");
        let counted = server.admin("/metrics")?.body;
        assert!(counted.contains("entry=\"workloads\""), "{counted}");
    }
    Ok(())
}

fn warnings() -> Outcome {
    let server = server("warn")?;
    let bad = template(&fault());
    let both = texts_of(&create(&server, PYTORCH, &pytorch(&bad, &bad))?);
    assert!(
        both[0].starts_with("FAB401 /spec/pytorchReplicaSpecs/Master/template and 1 more: NCCL_IB_DISABLE=1"),
        "{both:?}"
    );
    assert_eq!(both.iter().filter(|t| t.contains("FAB401")).count(), 1, "{both:?}");
    let last = both.last().map(String::as_str).unwrap_or_default();
    assert!(last.starts_with("fabric-admission will inject networks, RDMA resources"), "{both:?}");
    assert!(last.ends_with("into its pods (profile h100)"), "{both:?}");
    let one = texts_of(&create(&server, PYTORCH, &pytorch(&template(&json!([])), &bad))?);
    let first = "FAB401 /spec/pytorchReplicaSpecs/Worker/template: ";
    assert!(one.iter().any(|t| t.starts_with(first)), "{one:?}");
    assert!(one.iter().any(|t| t.starts_with("FAB701 ")), "{one:?}");
    // Many findings, one of them an error: it comes first, and the bounds hold.
    let mut many = bad.clone();
    let container = many["spec"]["containers"][0].clone();
    let words: Vec<Value> = (0..40)
        .map(|n| {
            let mut other = container.clone();
            other["name"] = json!(format!("c{n}"));
            other["env"] = json!([{"name": "NCCL_IB_TIMEOUT", "value": format!("word{n}")}]);
            other
        })
        .collect();
    many["spec"]["containers"].as_array_mut().ok_or("no containers")?.splice(0..0, words);
    let many = texts_of(&create(&server, JOB, &job(&many))?);
    assert!(many.len() <= 15 && many.iter().all(|t| t.chars().count() < 200), "{many:?}");
    assert!(many[0].starts_with("FAB401"), "{many:?}");
    assert!(many.iter().any(|t| t.ends_with("more findings")), "{many:?}");
    Ok(())
}

fn audit() -> Outcome {
    let server = server("deny")?;
    let bad = job(&template(&fault()));
    let answer = ask(&server, "/audit", JOB, "CREATE", (&bad, &Value::Null))?;
    let texts = texts_of(&answer);
    assert!(answer["allowed"] == true && texts[0].starts_with("FAB401 /spec/template: "), "{answer}");
    assert!(texts.iter().any(|t| t.starts_with("fabric-admission would inject")), "{answer}");
    let noted = &answer["auditAnnotations"];
    assert!(noted["profile"] == "h100" && noted["rules"].to_string().contains("FAB401"), "{answer}");
    Ok(())
}

fn owned() -> Outcome {
    let (warns, denies) = (server("warn")?, server("deny")?);
    for (version, kind, controller, silent) in [
        ("jobset.x-k8s.io/v1alpha2", "JobSet", true, true),
        ("batch/v1", "CronJob", true, true),
        // Nobody was asked about these.
        ("argoproj.io/v1alpha1", "Workflow", true, false),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", false, false),
        ("example.com/v1", "JobSet", true, false),
    ] {
        let mut job = job(&template(&fault()));
        job["metadata"]["ownerReferences"] =
            json!([{"apiVersion": version, "kind": kind, "name": "o", "uid": "1", "controller": controller}]);
        let answer = create(&warns, JOB, &job)?;
        let told = texts_of(&answer).iter().any(|t| t.contains("FAB401"));
        assert!(answer["allowed"] == true && told != silent, "{version} {kind}: {answer}");
        let answer = ask(&denies, "/audit", JOB, "CREATE", (&job, &Value::Null))?;
        assert_eq!(texts_of(&answer).is_empty(), silent, "{version} {kind}: {answer}");
        // Anyone may write an owner reference.
        let answer = create(&denies, JOB, &job)?;
        assert_eq!(answer["allowed"], false, "{version} {kind}: {answer}");
    }
    Ok(())
}

fn ratchet() -> Outcome {
    let server = server("deny")?;
    let of = |env: Value| job(&template(&env));
    let update = |new: &Value, old: &Value| ask(&server, "/validate-workload", JOB, "UPDATE", (new, old));
    let old = of(json!([{"name": "A", "value": "1"}, {"name": "NCCL_IB_DISABLE", "value": "1"}]));
    // What was there stays, wherever it moves to.
    let mut moved = of(json!([{"name": "NCCL_IB_DISABLE", "value": "1"}, {"name": "A", "value": "2"}]));
    moved["spec"]["parallelism"] = json!(2);
    let answer = update(&moved, &old)?;
    assert!(answer["allowed"] == true && texts_of(&answer).is_empty(), "{answer}");
    // What comes new is refused.
    let clean = of(json!([{"name": "A", "value": "1"}]));
    let answer = update(&old, &clean)?;
    assert!(answer["allowed"] == false && answer.to_string().contains("FAB401"), "{answer}");
    let mut more = old.clone();
    let second = more["spec"]["template"]["spec"]["containers"][0].clone();
    let containers = more["spec"]["template"]["spec"]["containers"].as_array_mut().ok_or("no containers")?;
    containers.insert(0, second);
    containers[0]["name"] = json!("second");
    assert_eq!(update(&more, &old)?["allowed"], false);
    // Metadata alone, and what goes away, are not looked at.
    let mut labelled = old.clone();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    labelled["status"] = json!({"active": 1});
    assert!(update(&labelled, &clean)?["allowed"] == false);
    let answer = update(&labelled, &old)?;
    assert!(answer["allowed"] == true && answer.get("auditAnnotations").is_none(), "{answer}");
    // Its pods are created until it is gone.
    let mut going = old.clone();
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(update(&going, &clean)?["allowed"], false);
    assert_eq!(create(&server, JOB, &going)?["allowed"], false);
    let mut held = going.clone();
    held["metadata"]["finalizers"] = json!(["example.com/f"]);
    let answer = update(&going, &held)?;
    assert!(answer["allowed"] == true && texts_of(&answer).is_empty(), "{answer}");
    Ok(())
}

/// Two fabrics are possible until a queue adds the labels of nodes.
fn suspended() -> Outcome {
    let of = |name: &str| {
        PROFILE
            .replace("h100", name)
            .replace("{base", &format!("{{nodeSelector: {{matchLabels: {{pool: {name}}}}}, base"))
    };
    let profiles = format!("{}---\n{}", of("a"), of("b"));
    let node = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{pool: {name}}}}}\nstatus: {{allocatable: {{nvidia.com/gpu: \"8\", nvidia.com/sriov_resource: \"8\"}}}}\n"
        )
    };
    let nodes = format!("{}---\n{}", node("a"), node("b"));
    let server = Server::start(
        &[("profiles.yaml", &profiles), ("nodes.yaml", &nodes)],
        &["--profiles", "profiles.yaml", "--cluster", "nodes.yaml", "--workloads", "deny"],
    )?;
    let mut pods = template(&json!([]));
    pods["metadata"] = json!({});
    let with = |mut object: Value, path: &str, suspended: bool| -> Result<Value, String> {
        let (parent, key) = path.rsplit_once('/').ok_or("no path")?;
        let Some(parent) = object.pointer_mut(parent) else { return Err(format!("{path}: {object}")) };
        parent[key] = suspended.into();
        Ok(object)
    };
    let job = job(&pods);
    let mut kubeflow = pytorch(&pods, &pods);
    kubeflow["spec"]["runPolicy"] = json!({});
    let set = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "s"},
        "spec": {"replicatedJobs": [{"name": "r", "template": {"spec": job["spec"]}}]}});
    let cron = json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job["spec"]}}});
    for (kind, object, path, allowed) in [
        (JOB, &job, "/spec/suspend", true),
        (PYTORCH, &kubeflow, "/spec/runPolicy/suspend", true),
        (("jobset.x-k8s.io", "JobSet"), &set, "/spec/suspend", true),
        (("batch", "CronJob"), &cron, "/spec/suspend", false),
    ] {
        let (waits, runs) = (with(object.clone(), path, true)?, with(object.clone(), path, false)?);
        let answer = create(&server, kind, &runs)?;
        assert!(answer["allowed"] == false && answer.to_string().contains("FAB806"), "{answer}");
        let answer = create(&server, kind, &waits)?;
        assert!(answer["allowed"] == allowed && answer.to_string().contains("FAB806"), "{answer}");
        // The queue resumes it, with or without labels: its pods are judged when they are created.
        let answer = ask(&server, "/validate-workload", kind, "UPDATE", (&runs, &waits))?;
        assert_eq!(answer["allowed"], true, "{answer}");
    }
    Ok(())
}

fn ratchet_of_objects() -> Outcome {
    let server = server("warn")?;
    let kind = ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy");
    let policy = |vfs: u32, device: &str| {
        json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy", "metadata": {"name": "p"},
            "spec": {"deviceType": device, "isRdma": true, "numVfs": vfs, "resourceName": "r"}})
    };
    let update = |new: &Value, old: &Value| ask(&server, "/validate-object", kind, "UPDATE", (new, old));
    let answer = update(&policy(4, "vfio-pci"), &policy(8, "vfio-pci"))?;
    assert!(answer["allowed"] == true && !answer.to_string().contains("FAB301"), "{answer}");
    let answer = update(&policy(8, "vfio-pci"), &policy(8, "netdevice"))?;
    assert!(answer["allowed"] == false && answer.to_string().contains("FAB301"), "{answer}");
    let mut ignored = policy(8, "vfio-pci");
    ignored["metadata"]["annotations"] = json!({"fabric-admission.dev/ignore.FAB301": "we know"});
    let answer = update(&ignored, &policy(8, "netdevice"))?;
    assert!(answer["allowed"] == false && answer.to_string().contains("FAB815"), "{answer}");
    Ok(())
}

fn parts() -> Outcome {
    let server = server("deny")?;
    let bad = job(&template(&fault()));
    for part in ["status", "scale"] {
        let mut body = review("u", JOB, "UPDATE", &bad);
        body["request"]["subResource"] = json!(part);
        body["request"]["oldObject"] = job(&template(&json!([])));
        let answer = server.post("/validate-workload", body.to_string().as_bytes())?.json()?;
        assert_eq!(answer["response"]["allowed"], true, "{part}: {answer}");
    }
    // What belongs to no namespace has not opted in.
    let mut body = review("u", ("trainer.kubeflow.org", "ClusterTrainingRuntime"), "CREATE", &bad);
    body["request"]["namespace"] = json!("");
    let answer = server.post("/validate-workload", body.to_string().as_bytes())?.json()?;
    assert_eq!(answer["response"]["allowed"], true, "{answer}");
    assert_eq!(ask(&server, "/validate-workload", JOB, "DELETE", (&Value::Null, &bad))?["allowed"], true);
    Ok(())
}

fn train_job() -> Outcome {
    let server = server("warn")?;
    let job = json!({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "t"},
        "spec": {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 2,
            "resourcesPerNode": {"limits": {"nvidia.com/gpu": "8"}},
            "env": [{"name": "A", "value": "1"}, {"name": "NCCL_CROSS_NIC", "value": "on"}]}}});
    let answer = create(&server, ("trainer.kubeflow.org", "TrainJob"), &job)?;
    let texts = texts_of(&answer);
    // What the runtime may say is not missed here: neither /dev/shm nor a profile.
    assert_eq!(texts.len(), 1, "{answer}");
    assert!(texts[0].starts_with("FAB402 /spec/trainer/env/1"), "{answer}");
    Ok(())
}

fn set_aside() -> Outcome {
    let profile = PROFILE.replace("{base: roce-sriov}", "{base: roce-sriov, ignorable: errors}");
    let server = Server::start(
        &[("profiles.yaml", &profile)],
        &["--profiles", "profiles.yaml", "--workloads", "deny"],
    )?;
    let mut bad = template(&fault());
    assert_eq!(create(&server, JOB, &job(&bad))?["allowed"], false);
    bad["metadata"]["annotations"]["fabric-admission.dev/ignore.FAB401"] = json!("measures TCP");
    let answer = create(&server, JOB, &job(&bad))?;
    assert!(answer["allowed"] == true && !texts_of(&answer).iter().any(|t| t.contains("FAB401")), "{answer}");
    assert_eq!(answer["auditAnnotations"]["ignored"], "FAB401", "{answer}");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": bad["metadata"], "spec": bad["spec"]});
    let patched = ask(&server, "/mutate", ("", "Pod"), "CREATE", (&pod, &Value::Null))?;
    let pod = crate::support::server::patched(&pod, &json!({"response": patched}))?;
    let answer = ask(&server, "/validate", ("", "Pod"), "CREATE", (&pod, &Value::Null))?;
    assert!(answer["allowed"] == true && answer["auditAnnotations"]["ignored"] == "FAB401", "{answer}");
    Ok(())
}

/// What is judged at its own admission is what the webhook configuration selects.
fn kinds() -> Result<(), String> {
    let text = read(&root().join("deploy/base/webhooks.yaml"))?;
    let plural = |kind: &WorkloadKind| (kind.group.to_owned(), format!("{}s", kind.kind.to_lowercase()));
    let expected: BTreeSet<(String, String)> = KINDS.iter().filter(|k| k.judged).map(plural).collect();
    let mut seen = 0;
    for (_, object) in documents(text.as_bytes()) {
        for webhook in object["webhooks"].as_array().into_iter().flatten() {
            let name = webhook["name"].as_str().unwrap_or_default();
            if !name.starts_with("audit.") && !name.starts_with("workloads.") {
                continue;
            }
            seen += 1;
            let words = |v: &Value| -> Vec<String> {
                v.as_array().into_iter().flatten().filter_map(|t| Some(t.as_str()?.to_owned())).collect()
            };
            let mut found = BTreeSet::new();
            for rule in webhook["rules"].as_array().into_iter().flatten() {
                for group in words(&rule["apiGroups"]) {
                    for plural in words(&rule["resources"]) {
                        found.insert((group.clone(), plural));
                    }
                }
            }
            found.remove(&(String::new(), "pods".to_owned()));
            same(name, expected.clone(), found)?;
        }
    }
    same("entries", 2, seen)
}
