use super::*;
use crate::facts::EnforcementMode;
use crate::review::decide_workload;
use crate::review::is_small_enough_to_copy::{MAX_COPIED_BYTES, MAX_COPIED_VALUES};
use crate::snapshot::{Builder, Layer};

const RUNTIME: &str = r#"{"metadata":{"name":"torch"},"spec":{"mlPolicy":{"numNodes":1,"torch":{}},"template":{"spec":{
    "replicatedJobs":[
        {"name":"model-initializer","template":{"spec":{"template":{"spec":{"containers":[{"name":"node","image":"i"}]}}}}},
        {"name":"node","template":{"metadata":{"labels":{"trainer.kubeflow.org/trainjob-ancestor-step":"trainer"}},
            "spec":{"template":{"spec":{"containers":[
                {"name":"sidecar","image":"s"},
                {"name":"node","image":"x","env":[{"name":"A","value":"1"},{"name":"B","value":"1"}],
                 "resources":{"limits":{"cpu":"1","nvidia.com/gpu":"1"}}}]}}}}}]}}}}"#;

fn request(json: &str) -> WorkloadRequest<'_> {
    WorkloadRequest {
        group: "trainer.kubeflow.org",
        kind: "TrainJob",
        json,
        namespace: "team",
        mode: EnforcementMode::Enforce,
        opted_in: true,
        profile: None,
        as_if_running: false,
        deadline: &crate::decision_limits::NEVER,
    }
}

fn joined(kind: &str, runtime: &str, job: &Value) -> Option<JobSetOfTrainJob> {
    let mut builder = Builder::default();
    builder.add(Layer::Input, "trainer.kubeflow.org", kind, runtime, "team").unwrap();
    build_job_set_of_train_job(request(&job.to_string()), &builder.build(), RuntimeResourceHandling::Merged)
        .ok()
}

fn job(spec: Value) -> Value {
    let mut job = json!({"metadata": {"name": "train"}, "spec": {"runtimeRef": {"name": "torch"}}});
    let (Some(own), Value::Object(spec)) = (job["spec"].as_object_mut(), spec) else { panic!() };
    own.extend(spec);
    job
}

#[test]
fn the_job_set_is_suspended_with_the_train_job() {
    for suspend in [json!(true), json!(false), Value::Null] {
        let joined = joined("ClusterTrainingRuntime", RUNTIME, &job(json!({"suspend": suspend}))).unwrap();
        let set: Value = serde_json::from_str(&joined.json).unwrap();
        assert_eq!(set["spec"]["suspend"], suspend);
    }
}

#[test]
fn the_trainer_is_laid_over_its_container() {
    let job = job(json!({"trainer": {"numNodes": 4, "image": "own", "command": ["run"],
        "env": [{"name": "B", "value": "2"}, {"name": "C", "value": "3"}],
        "resourcesPerNode": {"limits": {"nvidia.com/gpu": "8"}}}}));
    let joined = joined("ClusterTrainingRuntime", RUNTIME, &job).unwrap();
    let set: Value = serde_json::from_str(&joined.json).unwrap();
    assert_eq!(set["metadata"]["name"], "train");
    let jobs = &set["spec"]["replicatedJobs"];
    let initializer = &jobs[0]["template"]["spec"];
    assert_eq!(initializer["template"]["spec"]["containers"][0], json!({"name": "node", "image": "i"}));
    assert_eq!(initializer.get("parallelism"), None);
    let trainer = &jobs[1]["template"]["spec"];
    assert_eq!((&trainer["parallelism"], &trainer["completions"]), (&json!(4), &json!(4)));
    let containers = &trainer["template"]["spec"]["containers"];
    assert_eq!(containers[0], json!({"name": "sidecar", "image": "s"}));
    assert_eq!(
        containers[1],
        json!({"name": "node", "image": "own", "command": ["run"],
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "C", "value": "3"}],
            "resources": {"limits": {"cpu": "1", "nvidia.com/gpu": "8"}}})
    );
    let at = |rest: &str| {
        let path = format!("/spec/replicatedJobs/1/template/spec/template/spec/containers/1{rest}");
        let finding = Finding {
            rule: "FAB402",
            severity: Severity::Warning,
            path,
            message: "it is wrong".to_owned(),
            fix: String::new(),
            spot: None,
            because: None,
            other: None,
        };
        let placed = joined.finding_at_place_in_train_job(finding);
        (placed.path, placed.message)
    };
    for (rest, expected) in [
        ("/env/1/value", "/spec/trainer/env/0/value"),
        ("/env/2", "/spec/trainer/env/1"),
        ("/command/0", "/spec/trainer/command/0"),
        ("/resources/limits/nvidia.com~1gpu", "/spec/trainer/resourcesPerNode/limits/nvidia.com~1gpu"),
    ] {
        assert_eq!(at(rest), (expected.to_owned(), "it is wrong".to_owned()), "{rest}");
    }
    let of_runtime = "it is wrong (job \"node\" of ClusterTrainingRuntime torch)".to_owned();
    for rest in ["/env/0/value", "/resources/limits/cpu", "/args/0", ""] {
        assert_eq!(at(rest), ("/spec/runtimeRef".to_owned(), of_runtime.clone()), "{rest}");
    }
}

#[test]
fn patches_reach_the_job_that_they_name() {
    let pod = json!({"nodeSelector": {"pool": "h200"}, "containers": [{"name": "node",
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}]});
    let new = json!({"runtimePatches": [{"manager": "m", "trainingRuntimeSpec": {"template": {"spec": {
        "replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]}}}}]});
    let template = json!({"podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": pod}]});
    let mut inline = pod.clone();
    inline["targetJobs"] = json!([{"name": "node"}]);
    let inline = json!({"podSpecOverrides": [inline]});
    for (spec, from) in [
        (
            new,
            "/spec/runtimePatches/0/trainingRuntimeSpec/template/spec/replicatedJobs/0/template/spec/template/spec",
        ),
        (template, "/spec/podTemplateOverrides/0/spec"),
        (inline, "/spec/podSpecOverrides/0"),
    ] {
        let joined = joined("ClusterTrainingRuntime", RUNTIME, &job(spec)).unwrap();
        let set: Value = serde_json::from_str(&joined.json).unwrap();
        let jobs = &set["spec"]["replicatedJobs"];
        assert_eq!(jobs[0]["template"]["spec"]["template"]["spec"].get("nodeSelector"), None, "{from}");
        let own = &jobs[1]["template"]["spec"]["template"]["spec"];
        assert_eq!(own["nodeSelector"]["pool"], "h200", "{from}");
        assert_eq!(own["containers"][1]["volumeMounts"][0]["name"], "shm", "{from}");
        let at = "/spec/replicatedJobs/1/template/spec/template/spec";
        let find = |rest: &str| joined.places.source_of(&format!("{at}{rest}"));
        assert_eq!(find("/nodeSelector/pool").unwrap(), format!("{from}/nodeSelector/pool"));
        assert_eq!(
            find("/containers/1/volumeMounts/0/name").unwrap(),
            format!("{from}/containers/0/volumeMounts/0/name")
        );
    }
}

#[test]
fn mpi_counts_its_launcher() {
    let runtime = RUNTIME.replace(r#""torch":{}"#, r#""mpi":{"runLauncherAsNode":true}"#);
    let joined =
        joined("ClusterTrainingRuntime", &runtime, &job(json!({"trainer": {"numNodes": 4}}))).unwrap();
    let set: Value = serde_json::from_str(&joined.json).unwrap();
    assert_eq!(set["spec"]["replicatedJobs"][1]["template"]["spec"]["parallelism"], 3);
}

#[test]
fn the_runtime_is_the_one_that_is_named() {
    let named = |reference: Value| json!({"metadata": {"name": "t"}, "spec": {"runtimeRef": reference}});
    let of = |kind: &str, reference: Value| joined(kind, RUNTIME, &named(reference)).map(|j| j.runtime);
    let cluster = "ClusterTrainingRuntime";
    assert_eq!(of(cluster, json!({"name": "torch"})).as_deref(), Some("ClusterTrainingRuntime torch"));
    assert_eq!(of(cluster, json!({"name": "other"})), None);
    assert_eq!(of(cluster, json!({"name": "torch", "kind": "TrainingRuntime"})), None);
    assert_eq!(of(cluster, json!({"name": "torch", "apiGroup": "example.com"})), None);
    let own = json!({"name": "torch", "kind": "TrainingRuntime"});
    assert_eq!(of("TrainingRuntime", own).as_deref(), Some("TrainingRuntime torch"));
    assert_eq!(of("TrainingRuntime", json!({"name": "torch"})), None);
}

/// Trainer 2.3 merges the two, and before it the TrainJob's took the place of the runtime's: what breaks with one of them
/// alone is not an error.
#[test]
fn resources_are_merged_or_replaced() {
    let runtime = RUNTIME.replace(
        r#""limits":{"cpu":"1","nvidia.com/gpu":"1"}"#,
        r#""requests":{"nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"1"}"#,
    );
    let of = |limits: Value| {
        let job = job(json!({"trainer": {"resourcesPerNode": {"limits": limits}}})).to_string();
        let mut builder = Builder::default();
        builder
            .add(Layer::Input, "trainer.kubeflow.org", "ClusterTrainingRuntime", &runtime, "team")
            .unwrap();
        let (_, found) = findings(request(&job), &builder.build(), decide_workload).unwrap();
        found.into_iter().filter(|f| f.rule == "FAB201").map(|f| f.severity).collect::<Vec<_>>()
    };
    assert_eq!(of(json!({"nvidia.com/gpu": "8"})), [Severity::Warning]);
    assert_eq!(of(json!({"nvidia.com/gpu": "many"})), [Severity::Error]);
}

#[test]
fn overrides_without_jobs_are_for_none() {
    let over = |targets: Value| {
        let job = job(json!({"podSpecOverrides": [{"targetJobs": targets, "hostNetwork": true}]}));
        let joined = joined("ClusterTrainingRuntime", RUNTIME, &job).unwrap();
        joined.json.matches("hostNetwork").count()
    };
    assert_eq!((over(json!([])), over(json!([{"name": "node"}]))), (0, 1));
}

#[test]
fn too_much_is_not_followed() {
    let part = r#"{"name":"j","template":{"spec":{"template":{"spec":{}}}}}"#;
    let runtime = |jobs: usize| {
        format!(
            r#"{{"metadata":{{"name":"torch"}},"spec":{{"template":{{"spec":{{"replicatedJobs":[{}]}}}}}}}}"#,
            vec![part; jobs].join(",")
        )
    };
    let overrides = |n: usize, fields: usize| {
        let mut over = json!({"targetJobs": [{"name": "j"}]});
        (0..fields).for_each(|i| over[format!("f{i}")] = i.into());
        job(json!({"podSpecOverrides": vec![over; n]}))
    };
    let followed =
        |jobs, n, fields| joined("ClusterTrainingRuntime", &runtime(jobs), &overrides(n, fields)).is_some();
    assert!(followed(MAX_JOBS, 64, 1));
    assert!(!followed(MAX_JOBS + 1, 1, 1) && !followed(1, 65, 1) && !followed(MAX_JOBS, 64, 16));
}

/// The fields of a patch are not pruned here.
#[test]
fn a_patch_adds_no_templates() {
    let patched = |templates: usize| {
        let pod = json!({"spec": {"containers": [{"name": "a"}]}});
        let spec = json!({"other": vec![json!({"template": pod}); templates]});
        let patch = json!({"trainingRuntimeSpec": {"template": {"spec": spec}}});
        joined("ClusterTrainingRuntime", RUNTIME, &job(json!({"runtimePatches": [patch]}))).is_some()
    };
    assert!(patched(2) && !patched(MAX_JOBS));
}

#[test]
fn a_runtime_with_more_text_or_values_than_the_limit_is_not_followed() {
    let is_followed_with = |more: Value| {
        let runtime = RUNTIME.replacen(r#""mlPolicy""#, &format!(r#""more":{more},"mlPolicy""#), 1);
        joined("ClusterTrainingRuntime", &runtime, &job(json!({}))).is_some()
    };
    assert!(is_followed_with(json!("x".repeat(MAX_COPIED_BYTES - 2_000))));
    assert!(!is_followed_with(json!("x".repeat(MAX_COPIED_BYTES))));
    assert!(is_followed_with(json!(vec![1; MAX_COPIED_VALUES - 200])));
    assert!(!is_followed_with(json!(vec![1; MAX_COPIED_VALUES])));
}

/// Rules that a TrainJob breaks only together with its runtime, and FAB820 where it is checked without the runtime.
fn rules_broken_by(job: &Value) -> Vec<&'static str> {
    let runtime = RUNTIME
        .replace(r#""limits":{"cpu":"1","nvidia.com/gpu":"1"}"#, r#""limits":{"nvidia.com/gpu":"many"}"#);
    let mut builder = Builder::default();
    builder.add(Layer::Input, "trainer.kubeflow.org", "ClusterTrainingRuntime", &runtime, "team").unwrap();
    let job = job.to_string();
    let decided = decide_workload(request(&job), &builder.build());
    let found = decided.own.into_iter().flat_map(|own| own.findings).map(|finding| finding.rule);
    found.filter(|rule| ["FAB201", "FAB820"].contains(rule)).collect()
}

/// Its errors with the runtime are not found then, so the webhook must not just allow it.
#[test]
fn a_train_job_that_is_checked_without_its_runtime_says_so() {
    let overrides = |count: usize| json!({"podTemplateOverrides": vec![json!({"targetJobs": [{"name": "none"}]}); count]});
    let variables = |count: usize| {
        let env: Vec<Value> = (0..count).map(|n| json!({"name": format!("V{n}"), "value": "1"})).collect();
        json!({"trainer": {"env": env}})
    };
    for (few, many) in [
        (overrides(60), overrides(66)),
        (variables(300), variables(600)),
        (json!({"trainer": {"args": ["x"]}}), json!({"trainer": {"args": ["x".repeat(300_000)]}})),
        (
            json!({}),
            json!({"runtimePatches": [{"trainingRuntimeSpec": {"template": {"spec": {"$patch": "replace"}}}}]}),
        ),
    ] {
        assert_eq!(rules_broken_by(&job(few)), ["FAB201"]);
        assert_eq!(rules_broken_by(&job(many)), ["FAB820"]);
    }
    let mut long = job(json!({}));
    long["metadata"]["managedFields"] = json!(vec![json!({"f:spec": {"f:trainer": {}}}); 20_000]);
    assert_eq!(rules_broken_by(&long), ["FAB201"]);
    long["spec"]["runtimeRef"]["name"] = json!("other");
    assert!(rules_broken_by(&long).is_empty(), "a runtime that is not known");
}
