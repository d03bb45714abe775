//! `profiles test`: pods in, and the expected profile, changes and findings out. Decisions are those of `review`.

mod case;
mod expected_results;
mod find_cases;
mod test_report;
mod unified_diff;

use crate::cli::Exit;
use crate::cli::input::{self, ClusterSettingFlags, FactFileFlags, InputFlags};
use crate::cli::lines_on_stderr::write_error;
use crate::report::UnreadInput;
use case::{Case, CaseOutcome};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use test_report::Format;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// File or directory with cases: a case is a manifest NAME.yaml with its expectation NAME.expected.yaml
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// File or directory with the FabricProfiles under test; if one FabricProfile is invalid, the command fails
    #[arg(long, value_name = "PATH")]
    profiles: Option<PathBuf>,
    /// File or directory with the Kubernetes objects of the cluster in all test cases, such as Nodes and
    /// NetworkAttachmentDefinitions; repeatable
    #[arg(long, value_name = "PATH")]
    cluster: Vec<PathBuf>,
    /// Namespace for objects whose manifest does not set metadata.namespace; default: "default"
    #[arg(long, short, value_name = "NS", value_parser = input::parse_namespace)]
    namespace: Option<String>,
    /// Write the results to the expectation files, without a comparison. The command updates only the keys that an
    /// expectation file already has
    #[arg(long)]
    update: bool,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    output: Format,
    #[command(flatten)]
    choice: ClusterSettingFlags,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let files = FactFileFlags {
        profiles: arguments.profiles.clone(),
        cluster: arguments.cluster.clone(),
        namespace: arguments.namespace.clone(),
    };
    // Profiles and cluster are read once. What is wrong with them is reported once, and not with every case.
    let mut reported = Vec::new();
    let shared = InputFlags::of_files(Vec::new(), &files, &arguments.choice);
    let mut given = match input::read_profiles_and_fact_files(&shared, None, &mut reported)? {
        Ok(given) => given,
        Err(exit) => {
            err.write_all(&reported)?;
            return Ok(exit);
        }
    };
    // Whoever may change the cases may write many of them.
    let work = Arc::default();
    let facts = given.for_many_inputs(&work);
    let prepared = input::read_inputs_and_live_cluster(&shared, given, &mut reported)?;
    err.write_all(&reported)?;
    match prepared {
        Err(exit) => return Ok(exit),
        Ok(prepared) if !prepared.unread.is_empty() => return Ok(Exit::Usage),
        Ok(_) => {}
    }
    let reported: BTreeSet<String> = String::from_utf8_lossy(&reported).lines().map(str::to_owned).collect();
    let not_cases: Vec<&PathBuf> = arguments.profiles.iter().chain(&arguments.cluster).collect();
    let (found, unread) = match find_cases::find(&arguments.paths, &not_cases) {
        Ok(found) => found,
        Err(message) => {
            write_error(err, format_args!("{message}"))?;
            return Ok(Exit::Usage);
        }
    };
    for UnreadInput { file, line, column, message } in &unread {
        write_error(err, format_args!("{file}:{line}:{column}: {message}"))?;
    }
    let mut results = Vec::new();
    for case in found {
        let mut noted = Vec::new();
        let inputs = InputFlags::of_files(vec![case.input.clone()], &files, &arguments.choice);
        let outcome =
            case.review_and_compare_or_update(&inputs, (&facts, &work), arguments.update, &mut noted)?;
        let noted = String::from_utf8_lossy(&noted).into_owned();
        for line in noted.lines().filter(|line| !reported.contains(*line)) {
            writeln!(err, "{line}")?;
        }
        results.push((case, outcome));
    }
    test_report::write(arguments.output, &results, out)?;
    Ok(if unread.is_empty() { exit(&results) } else { Exit::Usage })
}

/// A case that cannot be read is not a failed expectation.
fn exit(results: &[(Case, CaseOutcome)]) -> Exit {
    let any = |is: fn(&CaseOutcome) -> bool| results.iter().any(|(_, outcome)| is(outcome));
    Exit::of_unreadable_or_failed(
        any(|outcome| matches!(outcome, CaseOutcome::Unreadable(_))),
        any(|outcome| matches!(outcome, CaseOutcome::Different(_))),
    )
}
