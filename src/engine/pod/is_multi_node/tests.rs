use super::*;

fn pod(json: &str) -> Option<(bool, String)> {
    let pod: PodView<'_> = serde_json::from_str(json).unwrap();
    multi_node_evidence_of_pod(&pod).map(|g| (g.several, g.words))
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
    assert_eq!(with("true"), yes("fabric-admission.dev/multi-node: true"));
    assert_eq!(with("false"), no("fabric-admission.dev/multi-node: false"));
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
    // A job of one replica has the same labels as any other.
    assert_eq!(env(r#"{"name":"PET_NNODES","value":"1"}"#, trained), no("PET_NNODES=1"));
    assert_eq!(env(r#"{"name":"WORLD_SIZE","value":"1"}"#, trained), no("WORLD_SIZE=1"));
    // Ranks of one node, a range, and a value that is not known here.
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
