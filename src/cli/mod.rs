//! The command line: flags, files and exit codes, one file or folder per subcommand. Results go to stdout, everything
//! else to stderr. Nothing is decided here: findings and changes come from `review`, and `report` puts them into words.

mod audit;
mod certs;
mod closed_pipe;
mod create_output_file;
mod discover;
mod doctor;
mod estimate;
mod exit_code;
mod explain;
mod fail_on_flag;
mod flag_values;
mod input;
mod lines_on_stderr;
mod monitor;
mod output_flag;
mod preflight;
mod pretty_json;
mod probe;
mod profiles;
mod read_and_write_baseline_file;
mod review;
mod rules;
mod send_pod_as_dry_run;
mod serve;
mod terminal_width;
mod unified_diff_text;
mod verify_log;
mod version;
mod why;

pub use exit_code::Exit;

use clap::{CommandFactory, Parser, Subcommand};
use closed_pipe::IgnoresClosedPipe;
use std::io;

/// Makes GPU training pods fit their RDMA fabric, and explains every change and finding.
#[derive(Debug, Parser)]
#[command(name = "fabric-admission", version, about, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Review manifests offline: show the changes that the webhook would make, and the findings
    Review(review::Arguments),
    /// Show which FabricProfile each pod in the manifests gets, and why
    Why(why::Arguments),
    /// Audit all workloads and pods of a cluster: for each namespace and top-level owner, show what the webhook would
    /// change and refuse
    Audit(Box<audit::Arguments>),
    /// Write FabricProfiles from the objects of a cluster, or compare existing FabricProfiles with the cluster
    Discover(discover::Arguments),
    /// List, show, check and test FabricProfiles
    Profiles(profiles::Arguments),
    /// Explain a rule (its check, the reason and the fix) or an environment variable, such as NCCL_IB_HCA
    Explain(explain::Arguments),
    /// Run the admission webhook server
    Serve(Box<serve::Arguments>),
    /// Create TLS certificates for development
    Certs(certs::Arguments),
    /// Check an installation in a cluster, and name a fix for each problem. With --pre, check the cluster before an
    /// installation
    Doctor(doctor::Arguments),
    /// Check the fabric from inside a pod: devices, addresses, limits, libraries and settings
    Preflight(preflight::Arguments),
    /// Send two pods to the API server as dry runs, to check that the API server calls the webhook
    Probe(probe::Arguments),
    /// List the rules, or export rules as ValidatingAdmissionPolicies
    Rules(rules::Arguments),
    /// Read logs of NCCL (NCCL_DEBUG=INFO): show the transport of each rank, the reason for a fallback to TCP, and
    /// differences between ranks
    VerifyLog(verify_log::Arguments),
    /// Estimate the all-reduce time and the GPU utilisation of a training job on several fabrics
    Estimate(estimate::Arguments),
    /// Serve metrics of this pod's RDMA devices and of the transport that NCCL uses
    Monitor(monitor::Arguments),
    /// Show the version
    Version(version::Arguments),
}

/// The command line with only the monitor, which runs beside every training: what clap builds for the flags of all other
/// commands would stay in its memory.
#[derive(Debug, Parser)]
#[command(name = "fabric-admission", version, about, max_term_width = 110)]
struct MonitorArguments {
    #[command(subcommand)]
    command: MonitorCommand,
}

#[derive(Debug, Subcommand)]
enum MonitorCommand {
    /// Serve metrics of this pod's RDMA devices and of the transport that NCCL uses
    Monitor(monitor::Arguments),
}

/// The command line, for its man pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Parses the command line and runs the command.
#[must_use]
pub fn run() -> Exit {
    let is_monitor = std::env::args_os().nth(1).is_some_and(|command| command == "monitor");
    let parsed = if is_monitor {
        MonitorArguments::try_parse().map(
            |MonitorArguments { command: MonitorCommand::Monitor(arguments) }| Command::Monitor(arguments),
        )
    } else {
        Arguments::try_parse().map(|arguments| arguments.command)
    };
    let command = match parsed {
        Ok(command) => command,
        Err(error) => {
            let usage = error.use_stderr();
            // With a closed pipe there is nowhere to report this error.
            let _ = error.print();
            return if usage { Exit::Usage } else { Exit::Clean };
        }
    };
    let mut out = IgnoresClosedPipe::new(anstream::stdout());
    let mut err = anstream::stderr();
    let outcome = match command {
        Command::Review(arguments) => review::run(&arguments, &mut out, &mut err),
        Command::Why(arguments) => why::run(&arguments, &mut out, &mut err),
        Command::Audit(arguments) => audit::run(&arguments, &mut out, &mut err),
        Command::Discover(arguments) => discover::run(&arguments, &mut out, &mut err),
        Command::Profiles(arguments) => profiles::run(&arguments, &mut out, &mut err),
        Command::Explain(arguments) => explain::run(&arguments, &mut out, &mut err),
        Command::Certs(arguments) => certs::run(&arguments, &mut out, &mut err),
        Command::Serve(arguments) => serve::run(&arguments, &mut err),
        Command::Doctor(arguments) => doctor::run(&arguments, &mut out, &mut err),
        Command::Preflight(arguments) => preflight::run(&arguments, &mut out, &mut err),
        Command::Probe(arguments) => probe::run(&arguments, &mut out, &mut err),
        Command::Rules(arguments) => rules::run(&arguments, &mut out, &mut err),
        Command::VerifyLog(arguments) => verify_log::run(&arguments, &mut out, &mut err),
        Command::Estimate(arguments) => estimate::run(&arguments, &mut out, &mut err),
        Command::Monitor(arguments) => monitor::run(&arguments, &mut err),
        Command::Version(arguments) => version::run(&arguments, &mut out),
    };
    let flushed = io::Write::flush(&mut out);
    match outcome.and_then(|exit| flushed.map(|()| exit)) {
        Ok(exit) => exit,
        Err(error) => {
            let _ = io::Write::write_fmt(&mut err, format_args!("error: cannot write the output: {error}\n"));
            Exit::Internal
        }
    }
}
