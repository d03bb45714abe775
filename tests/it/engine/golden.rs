//! `tests/cases/NAME/`: a manifest and what the review makes of it.
//!
//! | file | what |
//! | --- | --- |
//! | `input.yaml` or `input.json` | the manifest |
//! | `cluster.yaml` | facts, given with `--cluster` (optional) |
//! | `args` | further arguments, one a line; files named there may lie in the directory (optional) |
//! | `expected.yaml` | `-o yaml`; no file where nothing changes |
//! | `expected.patch.jsonl` | `-o patch`; no file where it is empty |
//! | `report.txt` | exit code, then `-o text` |

use crate::support::round_trip::{check, documents, same};
use crate::support::suite::Suite;
use crate::support::{Scratch, golden, names, read, root, run};
use std::path::{Path, PathBuf};

/// Directory of the cases.
pub(crate) fn cases() -> PathBuf {
    root().join("tests/cases")
}

pub(crate) fn add(suite: &mut Suite) {
    for name in names(&cases()) {
        suite.add(format!("golden::{name}"), move || Ok(run_case(&cases().join(name))?));
    }
    suite.add("golden::there_are_cases", || {
        let count = names(&cases()).len();
        if count >= 25 { Ok(()) } else { Err(format!("{count} cases under tests/cases").into()) }
    });
    for (name, files, words) in [
        ("without_input", &["args"][..], "expected input.yaml or input.json"),
        ("with_two_inputs", &["input.yaml", "input.json"], "expected input.yaml or input.json"),
        (
            "with_a_file_that_nothing_reads",
            &["input.yaml", "expected.yml"],
            "expected.yml: nothing reads this file",
        ),
    ] {
        suite.add(format!("golden::refuses_a_case_{name}"), move || {
            let scratch = Scratch::new()?;
            for file in files {
                scratch.write(file, "")?;
            }
            Ok(same("error", Some(words.to_owned()), Case::load(scratch.path()).err())?)
        });
    }
}

/// A case as its directory says.
pub(crate) struct Case {
    pub(crate) input: String,
    /// Every argument but the output format and the input.
    pub(crate) args: Vec<String>,
}

impl Case {
    pub(crate) fn load(directory: &Path) -> Result<Self, String> {
        let files = names(directory);
        let inputs: Vec<&String> =
            files.iter().filter(|f| *f == "input.yaml" || *f == "input.json").collect();
        let [input] = inputs.as_slice() else {
            return Err("expected input.yaml or input.json".to_owned());
        };
        let mut args = Vec::new();
        if files.iter().any(|f| f == "args") {
            args.extend(read(&directory.join("args"))?.lines().map(str::to_owned));
        }
        if files.iter().any(|f| f == "cluster.yaml") {
            args.extend(["--cluster".to_owned(), "cluster.yaml".to_owned()]);
        }
        let read = ["args", "expected.yaml", "expected.patch.jsonl", "report.txt", input];
        let unread = files.iter().find(|f| !read.contains(&f.as_str()) && !args.contains(f));
        if let Some(file) = unread {
            return Err(format!("{file}: nothing reads this file"));
        }
        Ok(Self { input: (*input).clone(), args })
    }

    fn output(&self, format: &str, directory: &Path) -> Result<crate::support::Ran, String> {
        let mut args = vec!["review".to_owned(), "-o".to_owned(), format.to_owned()];
        args.extend(self.args.iter().cloned());
        args.push(self.input.clone());
        let ran = run(&args, b"", directory)?;
        // Formats without findings have denied objects there, with their errors.
        let of_denied = |line: &str| line.starts_with("denied: ") || line.starts_with("  ");
        match ran.stderr.lines().all(|line| format != "text" && of_denied(line)) {
            true => Ok(ran),
            false => Err(format!("-o {format} on stderr: {}", ran.stderr)),
        }
    }
}

fn run_case(directory: &Path) -> Result<(), String> {
    let case = Case::load(directory)?;
    let text = case.output("text", directory)?;
    let patch = case.output("patch", directory)?;
    let diff = case.output("diff", directory)?;
    same("exit code of -o patch", text.code, patch.code)?;
    same("exit code of -o diff", text.code, diff.code)?;
    same("whether there is a diff where there is a patch", patch.stdout.is_empty(), diff.stdout.is_empty())?;

    let (review, yaml) = check(&case.args, &case.input, directory)?;
    same("exit code of -o json", text.code, review.ran.code)?;
    same("errors", 0, review.list("errors").len())?;
    let changed = !patch.stdout.is_empty();
    if !changed {
        let input = std::fs::read(directory.join(&case.input)).map_err(|e| e.to_string())?;
        same("an unchanged input, shown by -o yaml", documents(&input), documents(yaml.as_bytes()))?;
    }

    let report = format!("exit {}\n{}", text.code, text.stdout);
    let results = [
        golden(&directory.join("report.txt"), Some(&report)),
        golden(&directory.join("expected.patch.jsonl"), changed.then_some(patch.stdout.as_str())),
        golden(&directory.join("expected.yaml"), changed.then_some(yaml.as_str())),
    ];
    let wrong: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
