//! Pods of public manifests that bring a fabric, each file by itself, under every compiled-in profile.

use crate::support::suite::{Need, Suite};
use crate::support::{names, root, run};
use serde_json::Value;
use std::path::Path;

/// Files whose pods are complete for a fabric of their own, and pods in them (count).
const COMPLETE: &[(&str, usize)] = &[
    ("Azure__aks-rdma-infiniband__docblock-gpudirect-8ib.yaml", 1),
    ("GoogleCloudPlatform__container-engine-accelerators__gke-a4x-max-jobset.yaml", 1),
    ("Mellanox__network-operator__rdma-gpu-test-pod1.yaml", 1),
    ("NVIDIA__cloud-native-docs__gpudirect-rdma-demo-pod1.yaml", 1),
    ("NVIDIA__deepops__mpijob-roce-sriov.yaml", 1),
    ("ROCm__network-operator__workload-amd-nic.yaml", 1),
    ("aws-samples__amazon-eks-machine-learning-with-terraform-and-kubeflow__replicaset-gpu-efa.yaml", 1),
    ("aws-samples__aws-do-eks__elasticjob-imagenet-efa.yaml", 1),
    ("aws-samples__aws-do-eks__mpijob-nccl-all-reduce.yaml", 1),
    ("aws-samples__aws-efa-eks__mpijob-nccl-efa-p4d.yaml", 1),
    ("aws-samples__awsome-distributed-training__efa-nccl-tests-p5.yaml", 1),
    ("kubernetes-sigs__dranet__mpijob-erdma.yaml", 1),
    ("llm-d-incubation__llm-d-infra__rendered-wide-ep-lws.yaml", 2),
    ("sgl-project__rbg__rolebasedgroup-sglang-pd.yaml", 2),
];

pub(crate) fn add(suite: &mut Suite) {
    let Some(shared) = suite.need(Need::Shared, "do_no_harm::corpus") else { return };
    for (file, pods) in COMPLETE {
        let directory = shared.join("corpus");
        suite.add(format!("do_no_harm::corpus::{file}"), move || Ok(gains_nothing(&directory, file, *pods)?));
    }
}

fn gains_nothing(directory: &Path, file: &str, pods: usize) -> Result<(), String> {
    let profiles = names(&root().join("policies"));
    for profile in profiles.iter().filter_map(|name| name.strip_suffix(".yaml")) {
        let args = ["review", "-o", "json", "--fail-on", "never", "--profile", profile, file];
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        let ran = run(&args, b"", directory)?;
        let report: Value = serde_json::from_str(&ran.stdout).map_err(|e| e.to_string())?;
        let results = report["results"].as_array().ok_or("no results")?;
        let judged = results.iter().filter(|r| r["profile"].is_string()).count();
        if judged < pods {
            return Err(format!("under {profile}: {judged} pods with a profile, not {pods}"));
        }
        for result in results {
            for operation in result["patch"].as_array().into_iter().flatten() {
                let path = operation["path"].as_str().unwrap_or_default();
                let adds = path.contains("v1.cni.cncf.io") || path.contains("networking.gke.io");
                if adds || path.contains("/resources") {
                    return Err(format!("under {profile}: {operation}"));
                }
            }
        }
    }
    Ok(())
}
