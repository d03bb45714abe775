use super::*;

fn workload(group: &str, kind: &str, spec: &str) -> Option<(bool, String)> {
    multi_node_evidence_of_workload(group, kind, &format!(r#"{{"spec":{spec}}}"#))
        .map(|g| (g.several, g.words))
}

fn yes(words: &str) -> Option<(bool, String)> {
    Some((true, words.to_owned()))
}

fn no(words: &str) -> Option<(bool, String)> {
    Some((false, words.to_owned()))
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
fn workloads_of_unknown_size() {
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
    assert_eq!(multi_node_evidence_of_workload("batch", "Job", "{"), None);
}
