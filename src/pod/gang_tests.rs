use super::*;

fn pod(json: &str) -> Option<(bool, String)> {
    let pod: PodView<'_> = serde_json::from_str(json).unwrap();
    multi_node(&pod).map(|g| (g.several, g.words))
}

fn labelled(key: &str, value: &str) -> Option<(bool, String)> {
    let by_label = pod(&format!(r#"{{"metadata":{{"labels":{{"{key}":"{value}"}}}}}}"#));
    let by_annotation = pod(&format!(r#"{{"metadata":{{"annotations":{{"{key}":"{value}"}}}}}}"#));
    assert_eq!(by_label, by_annotation);
    by_label
}

fn env(variables: &str, labels: &str) -> Option<(bool, String)> {
    pod(&format!(
        r#"{{"metadata":{{"labels":{{{labels}}}}},"spec":{{"containers":[{{}},{{"env":[{variables}]}}]}}}}"#
    ))
}

fn workload(group: &str, kind: &str, spec: &str) -> Option<(bool, String)> {
    multi_node_workload(group, kind, &format!(r#"{{"spec":{spec}}}"#)).map(|g| (g.several, g.words))
}

fn yes(words: &str) -> Option<(bool, String)> {
    Some((true, words.to_owned()))
}

fn no(words: &str) -> Option<(bool, String)> {
    Some((false, words.to_owned()))
}

#[test]
fn the_annotation_decides() {
    let with = |value: &str| {
        pod(&format!(
            r#"{{"metadata":{{"annotations":{{"{MULTI_NODE_ANNOTATION}":"{value}"}},
            "labels":{{"ray.io/cluster":"r"}}}}}}"#
        ))
    };
    assert_eq!(with("true"), yes("its annotation says so"));
    assert_eq!(with("false"), no("its annotation says so"));
    assert_eq!(with("yes"), yes("pod of RayCluster r"));
}

#[test]
fn labels_of_controllers() {
    for (key, value, words) in [
        ("leaderworkerset.sigs.k8s.io/size", "3", "LeaderWorkerSet group of 3 pods"),
        ("kueue.x-k8s.io/pod-group-total-count", "2", "Kueue pod group of 2 pods"),
        ("jobset.sigs.k8s.io/global-replicas", "4", "JobSet with 4 jobs"),
        ("jobset.sigs.k8s.io/jobset-name", "train", "pod of JobSet train"),
        ("training.kubeflow.org/job-name", "bert", "pod of training job bert"),
        ("mpi-job-name", "m", "pod of MPIJob m"),
        ("volcano.sh/job-name", "v", "pod of Volcano Job v"),
        ("ray.io/cluster", "r", "pod of RayCluster r"),
        ("scheduling.x-k8s.io/pod-group", "g", "pod of PodGroup g"),
        ("pod-group.scheduling.sigs.k8s.io/min-available", "4", "pod group of 4 pods"),
        ("gang.scheduling.koordinator.sh/min-available", "4", "Koordinator gang of 4 pods"),
        ("batch.kubernetes.io/job-completion-index", "0", "pod of an indexed Job"),
    ] {
        assert_eq!(labelled(key, value), yes(words), "{key}");
    }
}

#[test]
fn no_evidence() {
    assert_eq!(pod("{}"), None);
    assert_eq!(pod(r#"{"metadata":{"labels":null,"annotations":null},"spec":null}"#), None);
    for (key, value) in [
        ("leaderworkerset.sigs.k8s.io/size", "1"),
        ("leaderworkerset.sigs.k8s.io/size", "many"),
        ("leaderworkerset.sigs.k8s.io/name", "vllm"),
        ("kueue.x-k8s.io/pod-group-total-count", "1"),
        ("kueue.x-k8s.io/queue-name", "gpu"),
        ("jobset.sigs.k8s.io/global-replicas", "1"),
        ("jobset.sigs.k8s.io/jobset-name", ""),
        ("batch.kubernetes.io/job-name", "j"),
        ("job-name", "j"),
        ("apps.kubernetes.io/pod-index", "3"),
        ("pod-group.scheduling.sigs.k8s.io/min-available", "-4"),
    ] {
        assert_eq!(labelled(key, value), None, "{key}={value}");
    }
}

#[test]
fn the_world_in_variables() {
    let trained = r#""training.kubeflow.org/job-name":"j""#;
    assert_eq!(env(r#"{"name":"PET_NNODES","value":"4"}"#, ""), yes("PET_NNODES=4"));
    assert_eq!(env(r#"{"name":"NNODES","value":" 2 "}"#, ""), yes("NNODES=2"));
    // A job of one replica is labelled like any other.
    assert_eq!(env(r#"{"name":"PET_NNODES","value":"1"}"#, trained), no("PET_NNODES=1"));
    assert_eq!(env(r#"{"name":"WORLD_SIZE","value":"1"}"#, trained), no("WORLD_SIZE=1"));
    // Ranks of one node, a range, and what is not known here.
    for open in [
        r#"{"name":"WORLD_SIZE","value":"8"}"#,
        r#"{"name":"PET_NNODES","value":"1:4"}"#,
        r#"{"name":"NNODES","value":"$(N)"}"#,
        r#"{"name":"NNODES","value":"0"}"#,
        r#"{"name":"NNODES","valueFrom":{"fieldRef":{}}}"#,
        "null",
    ] {
        assert_eq!(env(open, ""), None, "{open}");
        assert_eq!(env(open, trained), yes("pod of training job j"), "{open}");
    }
}

#[test]
fn workloads_of_several_pods() {
    for (group, kind, spec, words) in [
        (
            "batch",
            "Job",
            r#"{"completionMode":"Indexed","completions":4,"parallelism":4}"#,
            "indexed Job with 4 pods",
        ),
        (
            "batch",
            "CronJob",
            r#"{"jobTemplate":{"spec":{"completionMode":"Indexed","completions":2,"parallelism":8}}}"#,
            "indexed CronJob with 2 pods",
        ),
        (
            "jobset.x-k8s.io",
            "JobSet",
            r#"{"replicatedJobs":[{"replicas":2,"template":{"spec":{"parallelism":2,"completions":2}}},{"name":"x","template":{}}]}"#,
            "JobSet with 5 pods",
        ),
        (
            "leaderworkerset.x-k8s.io",
            "LeaderWorkerSet",
            r#"{"replicas":1,"leaderWorkerTemplate":{"size":2}}"#,
            "LeaderWorkerSet with groups of 2 pods",
        ),
        (
            "kubeflow.org",
            "MPIJob",
            r#"{"mpiReplicaSpecs":{"Launcher":{"replicas":1},"Worker":{"replicas":2}}}"#,
            "MPIJob with 2 pods",
        ),
        (
            "kubeflow.org",
            "MPIJob",
            r#"{"runLauncherAsWorker":true,"mpiReplicaSpecs":{"Launcher":{},"Worker":{"replicas":1}}}"#,
            "MPIJob with 2 pods",
        ),
        (
            "kubeflow.org",
            "PyTorchJob",
            r#"{"pytorchReplicaSpecs":{"Master":{},"Worker":{"replicas":1}}}"#,
            "PyTorchJob with 2 pods",
        ),
        ("trainer.kubeflow.org", "TrainJob", r#"{"trainer":{"numNodes":4}}"#, "TrainJob with 4 pods"),
        (
            "trainer.kubeflow.org",
            "TrainingRuntime",
            r#"{"mlPolicy":{"numNodes":2}}"#,
            "TrainingRuntime with 2 pods",
        ),
        (
            "batch.volcano.sh",
            "Job",
            r#"{"tasks":[{"replicas":1},{"replicas":2}]}"#,
            "Volcano Job with 3 pods",
        ),
        (
            "ray.io",
            "RayCluster",
            r#"{"headGroupSpec":{},"workerGroupSpecs":[{"replicas":2,"numOfHosts":2}]}"#,
            "RayCluster with 5 pods",
        ),
        ("ray.io", "RayJob", r#"{"rayClusterSpec":{"workerGroupSpecs":[{}]}}"#, "RayJob with 2 pods"),
    ] {
        assert_eq!(workload(group, kind, spec), yes(words), "{kind}");
    }
}

#[test]
fn workloads_of_one_pod() {
    for (group, kind, spec, words) in [
        ("batch", "Job", r#"{"completionMode":"Indexed","completions":8}"#, "indexed Job with 1 pod"),
        ("jobset.x-k8s.io", "JobSet", r#"{"replicatedJobs":[{"name":"a"}]}"#, "JobSet with 1 pod"),
        (
            "leaderworkerset.x-k8s.io",
            "LeaderWorkerSet",
            r#"{"replicas":4}"#,
            "LeaderWorkerSet with groups of 1 pod",
        ),
        ("kubeflow.org", "MPIJob", r#"{"mpiReplicaSpecs":{"Launcher":{},"Worker":{}}}"#, "MPIJob with 1 pod"),
        (
            "kubeflow.org",
            "PyTorchJob",
            r#"{"pytorchReplicaSpecs":{"Master":{"replicas":1}}}"#,
            "PyTorchJob with 1 pod",
        ),
        ("ray.io", "RayService", r#"{"rayClusterConfig":{}}"#, "RayService with 1 pod"),
    ] {
        assert_eq!(workload(group, kind, spec), no(words), "{kind}");
    }
}

#[test]
fn workloads_that_say_nothing() {
    for (group, kind, spec) in [
        ("batch", "Job", r#"{"completions":4,"parallelism":4}"#),
        ("apps", "StatefulSet", r#"{"replicas":4}"#),
        ("apps", "Deployment", r#"{"replicas":4}"#),
        ("trainer.kubeflow.org", "TrainJob", "{}"),
        ("trainer.kubeflow.org", "ClusterTrainingRuntime", r#"{"mlPolicy":{"numNodes":1}}"#),
        ("kubeflow.org", "PyTorchJob", r#"{"pytorchReplicaSpecs":{"Worker":{"replicas":"$NUM_NODES"}}}"#),
        ("kubeflow.org", "PyTorchJob", "null"),
        ("jobset.x-k8s.io", "JobSet", "{}"),
        ("example.com", "Job", r#"{"completionMode":"Indexed","completions":4,"parallelism":4}"#),
    ] {
        assert_eq!(workload(group, kind, spec), None, "{kind} {spec}");
    }
    assert_eq!(multi_node_workload("batch", "Job", "{"), None);
}
