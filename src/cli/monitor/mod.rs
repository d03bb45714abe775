//! `monitor`: metrics of the RDMA devices of a pod, and the transport that NCCL uses. One thread.

mod ask_nccl_ras;
mod monitor_state_and_log_lines;
mod nccl_log_files;
mod serve_metrics;

use super::Exit;
use crate::cli::flag_values::parse_existing_directory;
use crate::cli::input::links_in_directories::why_link_of_repository_is_refused;
use crate::cli::lines_on_stderr::write_error;
use crate::preflight::facts_json_for_monitor::Facts;
use crate::rdma::Unreadable;
use monitor_state_and_log_lines::MonitorState;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// Longest facts file.
const MAX_FACTS_BYTES: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Address on which the monitor serves its metrics, such as :9406 or 127.0.0.1:9406
    #[arg(long, value_name = "ADDRESS", default_value = ":9406", value_parser = address)]
    listen: SocketAddr,
    /// File facts.json that preflight wrote; without this file, the metrics of preflight's facts are absent
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
    /// Transport that the profile expects, such as roce or ethernet; default: the transport in the file of --facts
    #[arg(long, value_name = "NAME", value_parser = ["roce", "infiniband", "ethernet", "efa", "tcpx", "tcpxo"])]
    expect_transport: Option<String>,
    /// Directory with /sys and /dev; for tests, a copy of the root directory of another pod
    #[arg(long, value_name = "DIR", default_value = "/", value_parser = parse_existing_directory)]
    root: PathBuf,
    /// Folder with the NCCL logs of one container (see NCCL_DEBUG_FILE)
    #[arg(long, value_name = "DIR")]
    nccl_log: Option<PathBuf>,
    /// Port on which NCCL's RAS listens (127.0.0.1 or ::1), such as 28028. With this flag, the monitor asks RAS
    /// once a minute
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    ras_port: Option<u16>,
    /// Time limit for an answer of RAS at each address, in seconds; RAS waits up to 10 s for the other processes of the
    /// job
    #[arg(long, value_name = "SECONDS", default_value_t = 15, requires = "ras_port", value_parser = clap::value_parser!(u64).range(1..=30))]
    ras_timeout: u64,
    /// For --ras-port: an index or role of the pod in its job; repeatable. Only the monitor of the job's first pod asks
    /// RAS, because one RAS answer covers all processes of the job. A pod is the first pod if at least one value is 0 or
    /// master, and every other value is 0, master or empty. Without --rank-index, the monitor of every pod asks RAS
    #[arg(long, value_name = "INDEX", requires = "ras_port")]
    rank_index: Vec<String>,
}

/// `:9406` listens on all addresses.
fn address(text: &str) -> Result<SocketAddr, String> {
    let whole = if text.starts_with(':') { format!("[::]{text}") } else { text.to_owned() };
    whole.parse().map_err(|_| "write an address and a port, such as :9406 or 127.0.0.1:9406".to_owned())
}

pub(super) fn run(arguments: &Arguments, err: &mut dyn Write) -> io::Result<Exit> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            write_error(err, format_args!("cannot start the runtime: {error}"))?;
            return Ok(Exit::Internal);
        }
    };
    let ras_port = arguments.ras_port.filter(|_| {
        arguments.rank_index.is_empty()
            || ask_nccl_ras::is_pod_of_rank_zero(&arguments.rank_index) == Some(true)
    });
    if ras_port.is_none()
        && arguments.ras_port.is_some()
        && ask_nccl_ras::is_pod_of_rank_zero(&arguments.rank_index).is_none()
    {
        let message = "The rank of this pod is unknown, so the monitor does not ask RAS";
        writeln!(err, "{}", serde_json::json!({"event": "ras-not-asked", "message": message}))?;
    }
    let (facts, unreadable) = match facts(arguments) {
        Ok(facts) => (facts, None),
        Err(unreadable) => (None, Some(unreadable)),
    };
    let state = MonitorState::new(&arguments.root, facts, arguments.nccl_log.clone(), ras_port.is_some())
        .expecting(arguments.expect_transport.clone())
        .with_unreadable_facts(unreadable);
    let state = Rc::new(state);
    let local = tokio::task::LocalSet::new();
    if let Some(port) = ras_port {
        let state = Rc::clone(&state);
        let deadline = Duration::from_secs(arguments.ras_timeout);
        local.spawn_local(async move {
            loop {
                state.record_ras_answer_and_log_silence(
                    ask_nccl_ras::ask_over_both_loopbacks(port, deadline).await,
                );
                tokio::time::sleep(ask_nccl_ras::TIME_BETWEEN_QUESTIONS).await;
            }
        });
    }
    let served =
        local.block_on(&runtime, serve_metrics::serve_metrics_over_http(arguments.listen, state, err));
    match served {
        Ok(()) => Ok(Exit::Clean),
        Err(error) => {
            write_error(err, format_args!("{}: {error}", arguments.listen))?;
            Ok(Exit::Internal)
        }
    }
}

/// The facts of preflight, or the file and the reason why there are none, such as another form or version.
fn facts(arguments: &Arguments) -> Result<Option<Facts>, (String, Unreadable)> {
    let Some(path) = &arguments.facts else { return Ok(None) };
    let read = || {
        if let Some(refused) = why_link_of_repository_is_refused(path) {
            return Err(refused);
        }
        let mut text = String::new();
        let file = crate::pod_agent::open_regular_file(path, crate::pod_agent::LastLink::Follow)
            .map_err(|error| error.to_string())?;
        io::Read::read_to_string(&mut io::Read::take(file, MAX_FACTS_BYTES + 1), &mut text)
            .map_err(|error| error.to_string())?;
        if text.len() as u64 > MAX_FACTS_BYTES {
            return Err("the file has more than 1 MiB; name a facts.json that preflight wrote".to_owned());
        }
        Facts::parse(&text)
    };
    let why =
        |reason: String| Unreadable::Failed(format!("{reason}; the metrics of preflight's facts are absent"));
    read().map(Some).map_err(|reason| (path.display().to_string(), why(reason)))
}
