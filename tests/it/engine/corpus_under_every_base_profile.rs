//! The corpus: manifests from public repositories, as their authors wrote them, under no profile and under each
//! compiled-in one. What a right reviewer says of each file stands in the corpus' README.

use crate::support::names;
use crate::support::round_trip::{check, documents, same};
use crate::support::suite::{Need, Suite};
use std::collections::BTreeSet;
use std::path::Path;

/// Files with a fault of their own, and the rules that say so at severity error. Every other file is without
/// error under every profile.
///
/// Placeholders: the README's section 7 asks to report them (`$VAR`, `PLACEHOLDER_X`, `__X__`).
const FAULTS: &[(&str, &[&str])] = &[
    ("Mellanox__network-operator__sriovibnetwork-bad-ipam-json.yaml", &["FAB335"]),
    ("aws-samples__awsome-distributed-training__pytorchjob-fsdp-envsubst.yaml", &["FAB201"]),
    ("aws-samples__awsome-distributed-training__verl-raycluster-placeholder.yaml", &["FAB201"]),
];

/// Policies with `vfio-pci` whose comments speak of `isRdma: true`: valid, must pass.
const COMMENT_TRAPS: &[&str] = &[
    "openshift-kni__cnf-features-deploy__nodepolicy-vfio-intel-comment.yaml",
    "openshift__sriov-network-operator__nodepolicy-vfio-intel.yaml",
];

pub(crate) fn add(suite: &mut Suite) {
    let Some(shared) = suite.need(Need::Shared, "corpus") else { return };
    for directory in ["corpus", "data/admissionreviews"] {
        let directory = shared.join(directory);
        let reviewed = |n: &String| n.ends_with(".yaml") || n.ends_with(".json");
        for name in names(&directory).into_iter().filter(reviewed) {
            let directory = directory.clone();
            suite.add(format!("corpus::{name}"), move || Ok(file(&directory, &name)?));
        }
    }
    let corpus = shared.join("corpus");
    suite.add("corpus::is_whole", move || {
        let files = names(&corpus).iter().filter(|n| n.ends_with(".yaml")).count();
        let listed: Vec<&str> = FAULTS.iter().map(|(n, _)| *n).chain(COMMENT_TRAPS.iter().copied()).collect();
        let gone: Vec<&&str> = listed.iter().filter(|n| !corpus.join(n).is_file()).collect();
        same("listed files that are gone", Vec::<&&str>::new(), gone)?;
        if files >= 82 { Ok(()) } else { Err(format!("{files} files").into()) }
    });
}

/// The profiles by name, from the files that are compiled in.
fn bases() -> Vec<String> {
    let files = names(&crate::support::root().join("policies"));
    files.iter().filter_map(|n| n.strip_suffix(".yaml")).map(str::to_owned).collect()
}

fn file(directory: &Path, name: &str) -> Result<(), String> {
    let bytes = std::fs::read(directory.join(name)).map_err(|e| e.to_string())?;
    let count = documents(&bytes).len();
    let known = FAULTS.iter().find(|(n, _)| *n == name).map(|(_, rules)| *rules).unwrap_or_default();
    let profiles = bases();
    same("compiled-in profiles", true, profiles.len() >= 6)?;
    for profile in std::iter::once(None).chain(profiles.iter().map(Some)) {
        let args: Vec<String> = profile.iter().flat_map(|p| ["--profile".to_owned(), (*p).clone()]).collect();
        let under = |error: String| format!("under {profile:?}: {error}");
        let (review, _) = check(&args, name, directory).map_err(under)?;
        same("errors", 0, review.list("errors").len()).map_err(under)?;
        same("documents", count as u64, review.json["summary"]["documents"].as_u64().unwrap_or(0))?;
        let findings = || review.results().iter().flat_map(|r| r["findings"].as_array()).flatten();
        let errors = findings().filter(|f| f["severity"] == "error");
        let errors: BTreeSet<String> = errors.map(|f| f["rule"].as_str().unwrap_or("?").to_owned()).collect();
        let expected: BTreeSet<String> = known.iter().map(|r| (*r).to_owned()).collect();
        same("rules with an error", expected, errors).map_err(under)?;
        same("exit code", i32::from(!known.is_empty()), review.ran.code).map_err(under)?;
        let stderr: Vec<&str> = review.ran.stderr.lines().filter(|l| !l.starts_with("warning: ")).collect();
        same("stderr", Vec::<&str>::new(), stderr).map_err(under)?;
        if COMMENT_TRAPS.contains(&name) {
            let verdicts: Vec<&str> = review.results().iter().filter_map(|r| r["verdict"].as_str()).collect();
            same("verdicts", vec!["allow"], verdicts).map_err(under)?;
            same("findings", 0, findings().count()).map_err(under)?;
        }
    }
    Ok(())
}
