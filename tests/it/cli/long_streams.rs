//! Long inputs: read in parts, with the same results as short ones, and in memory that does not grow with them.

use crate::support::peak_memory::peak_memory;
use crate::support::round_trip::{review, same};
use crate::support::suite::Suite;
use crate::support::{Scratch, run};
use serde_json::Value;

/// More text than stays decoded, in comments that make several parts.
const PADS: usize = 45;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: NAME\n  namespace: default\n  annotations: \
                   {k8s.v1.cni.cncf.io/networks: rail0}\nspec:\n  nodeSelector: {pool: $POOL}\n  containers:\n  - name: c\n    \
                   image: i\n    env:\n    - name: A\n      value: 8\n    resources: {limits: {nvidia.com/gpu: 8}}\n";
const NETWORK: &str = "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: rail0, namespace: \
                       default}\nspec:\n  config: |\n    {\"cniVersion\": \"1.0.0\", \"type\": \"sriov\",\n     \"vlan\": \"x\"}\n";

pub(crate) fn add(suite: &mut Suite) {
    suite.add("long_streams::parts_have_the_results_of_the_whole", || Ok(parts()?));
    suite.add("long_streams::unreadable_documents_are_counted_above_a_limit", || Ok(unreadable()?));
    if cfg!(target_os = "linux") {
        suite.add("long_streams::memory_does_not_grow_with_the_documents", || Ok(memory()?));
        suite.add("long_streams::tiny_documents_take_little_memory", || Ok(tiny_documents()?));
        suite.add("long_streams::aliases_take_little_memory", || Ok(aliases()?));
    }
}

fn stream(between: &str) -> String {
    let pod = |name: &str| POD.replace("NAME", name);
    [pod("first"), format!("{between}---\n{NETWORK}"), pod("last")].join("---\n")
}

/// The network is a fact for the pod before it, and lines count from the start of the file.
fn parts() -> Result<(), String> {
    let pad = format!("---\n# {}\n", "x".repeat(250_000));
    let (short, long) = (stream(""), stream(&pad.repeat(PADS)));
    let scratch = Scratch::new()?;
    let all = |text: &str, more: u64| {
        scratch.write("long.yaml", text)?;
        let of_file = review(&["long.yaml".to_owned()], b"", scratch.path())?;
        let of_stdin = review(&["-".to_owned()], text.as_bytes(), scratch.path())?;
        same("exit code", of_file.ran.code, of_stdin.ran.code)?;
        let mut results: Vec<Value> = of_file.results().to_vec();
        let mut from_stdin: Vec<Value> = of_stdin.results().to_vec();
        from_stdin.iter_mut().for_each(|result| result["source"]["file"] = "long.yaml".into());
        same("results of standard input", &results, &from_stdin)?;
        for result in results.iter_mut().filter(|result| result["source"]["document"] != 0) {
            let back = |line: &mut Value| *line = (line.as_u64().unwrap_or_default() - more).into();
            back(&mut result["source"]["line"]);
            let findings = result["findings"].as_array_mut().into_iter().flatten();
            findings.for_each(|finding| back(&mut finding["line"]));
        }
        for format in ["yaml", "text"] {
            let ran = run(&["review", "-o", format, "long.yaml"], b"", scratch.path())?;
            same(format, of_file.ran.code, ran.code)?;
            if format == "yaml" {
                same("documents of -o yaml", 3, ran.stdout.matches("kind: ").count())?;
            }
        }
        Ok::<_, String>(results)
    };
    let expected = all(&short, 0)?;
    let findings = |rule: &str| {
        expected.iter().flat_map(|r| r["findings"].as_array()).flatten().filter(|f| f["rule"] == rule).count()
    };
    same("numbers", 2, findings("FAB901"))?;
    same("faults in a text", 1, findings("FAB112"))?;
    same("placeholders", 1, findings("FAB903"))?;
    let mut found = all(&long, 2 * PADS as u64)?;
    let mut expected = expected;
    // Placeholders of another part are counted with their own object.
    for result in found.iter_mut().chain(&mut expected) {
        for finding in result["findings"].as_array_mut().into_iter().flatten() {
            finding["repeats"] = 0.into();
        }
    }
    same("results", expected, found)
}

fn unreadable() -> Result<(), String> {
    let review =
        review(&["-".to_owned()], "kind: [\n---\n".repeat(1_500).as_bytes(), crate::support::root())?;
    same("exit code", 2, review.ran.code)?;
    let errors = review.list("errors");
    same("errors", 1_001, errors.len())?;
    let last = errors.last().and_then(|e| e["message"].as_str()).unwrap_or_default();
    same("the last", "500 more documents of this file cannot be read; only the first 1000 are reported", last)
}

/// The largest memory of `review` at any time (KiB), for so many documents.
fn peak(documents: usize, one: impl Fn(usize) -> String) -> Result<u64, String> {
    peak_memory(&["review", "-"], &(0..documents).map(one).collect::<String>(), 0)
}

/// Above the documents that stay decoded, twice as many take no more memory.
fn memory() -> Result<(), String> {
    let one = |n: usize| {
        let note = "x".repeat(700);
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\nspec: {{containers: [{{name: c, image: i}}]}}\n# {note}\n"
        )
    };
    let (once, twice) = (peak(14_000, one)?, peak(28_000, one)?);
    match twice.saturating_sub(once) / 1024 {
        0..12 => Ok(()),
        more => Err(format!("{more} MiB more for twice the documents: {once} KiB, {twice} KiB")),
    }
}

/// Documents of a few bytes, which take much more memory than their text when they are decoded: only some of them are kept, also
/// behind a JSON value.
fn tiny_documents() -> Result<(), String> {
    for first in ["", "{}\n"] {
        let one = |n: usize| format!("{}---\na: {n}\n", if n == 0 { first } else { "" });
        let (some, many) = (peak(30_000, one)?, peak(90_000, one)?);
        let more = many.saturating_sub(some) / 1024;
        if more >= 30 {
            return Err(format!(
                "{more} MiB more for 60,000 documents behind {first:?}: {some} KiB, {many} KiB"
            ));
        }
    }
    Ok(())
}

/// Documents of a few thousand bytes, each of which has a thousand objects: the results of some of them are in memory.
fn aliases() -> Result<(), String> {
    let one = |n: usize| {
        let object = "{apiVersion: sriovnetwork.openshift.io/v1, kind: SriovNetwork";
        format!(
            "---\napiVersion: v1\nkind: List\nitems:\n- &n {object}, metadata: {{name: s{n}}}, spec: {{resourceName: r}}}}\n{}",
            "- *n\n".repeat(1_000)
        )
    };
    let (some, many) = (peak(100, one)?, peak(300, one)?);
    match many.saturating_sub(some) / 1024 {
        0..30 => Ok(()),
        more => Err(format!("{more} MiB more for 200 documents: {some} KiB, {many} KiB")),
    }
}
