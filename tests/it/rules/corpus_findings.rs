//! What is said of each file of the corpus under no profile, word for word. A change of a rule shows here on
//! manifests of real users; each line was held against what the corpus' README says of the file.

use crate::support::round_trip::review;
use crate::support::suite::{Need, Suite};
use crate::support::{golden, names, root};
use std::fmt::Write;
use std::path::Path;

/// Files that belong together: a fault between them shows only where both are given.
const TOGETHER: &[&[&str]] = &[
    &["ROCm__network-operator__nad-amd-host-device.yaml", "ROCm__network-operator__workload-amd-nic.yaml"],
    &[
        "k8snetworkplumbingwg__ib-sriov-cni__ib-sriov-test-pod.yaml",
        "k8snetworkplumbingwg__ib-sriov-cni__nad-ib-sriov.yaml",
    ],
    &["kserve__kserve__llmisvc-deepseek-roce.yaml", "kserve__kserve__network-roce-policies.yaml"],
    &["Mellanox__network-operator__sriov-pod1.yaml", "Mellanox__network-operator__sriovnetwork.yaml"],
    &[
        "opendatahub-io__distributed-workloads__clustertrainingruntime-mpi.yaml",
        "opendatahub-io__distributed-workloads__trainjob-mpi-ddp-shm.yaml",
    ],
];

pub(crate) fn add(suite: &mut Suite) {
    let Some(shared) = suite.need(Need::Shared, "corpus_findings") else { return };
    let corpus = shared.join("corpus");
    suite.add("corpus_findings::are_as_reviewed", move || {
        let files: Vec<String> = names(&corpus).into_iter().filter(|n| n.ends_with(".yaml")).collect();
        let mut page = String::new();
        for file in &files {
            page.push_str(&section(&corpus, &[file])?);
        }
        for files in TOGETHER {
            page.push_str(&section(&corpus, files)?);
        }
        Ok(golden(&root().join("tests/findings-of-the-corpus.txt"), Some(&page))?)
    });
}

fn section(corpus: &Path, files: &[&str]) -> Result<String, String> {
    let args: Vec<String> = files.iter().map(|f| (*f).to_owned()).collect();
    let review = review(&args, b"", corpus)?;
    let mut text = format!("{}\n", files.join(" + "));
    for result in review.results() {
        let template = result["template"].as_str().unwrap_or_default();
        let word = |key: &str| result[key].as_str().unwrap_or("?").to_owned();
        let findings = result["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
        if findings.is_empty() {
            continue;
        }
        let _ = writeln!(text, "  {} {}", word("kind"), word("name"));
        for finding in findings {
            let [rule, severity, path, message] =
                ["rule", "severity", "path", "message"].map(|k| finding[k].as_str().unwrap_or("?"));
            let _ = writeln!(text, "    {rule} {severity} {template}{path}: {message}");
        }
    }
    Ok(text)
}
