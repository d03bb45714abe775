//! `probe`: whether the API server calls the webhook, as only a create through the API server can show. Network policies,
//! firewalls, certificates and selectors are all on that way. `helm test` runs it.

use super::{Exit, send_pod_as_dry_run};
use crate::cli::lines_on_stderr::write_error;
use crate::cluster::api_client::create_client;
use crate::doctor::probe_pods_and_their_answers::{
    Answer, Wrong, not_changed, not_refused, pod_to_be_changed, pod_to_be_refused,
};
use serde_json::Value;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(500);

/// What is wrong with an answer.
type AnswerCheck = fn(&Answer) -> Option<Wrong>;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Namespace for the two pods; the namespace must have mode `enforce`
    #[arg(long, short, value_name = "NAME")]
    namespace: String,
    /// FabricProfile that the namespace may use
    #[arg(long, value_name = "NAME")]
    profile: String,
    /// Kubeconfig of the API server; default: the pod's service account
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_KUBECONFIG")]
    kubeconfig: Option<PathBuf>,
    /// Time limit for both pods, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = super::flag_values::parse_seconds_up_to_one_hour)]
    timeout: f64,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            write_error(err, format_args!("cannot start the runtime: {error}"))?;
            return Ok(Exit::Internal);
        }
    };
    let client = match runtime.block_on(create_client(arguments.kubeconfig.as_deref(), None)) {
        Ok(client) => client,
        Err(error) => {
            write_error(err, format_args!("{error}"))?;
            return Ok(Exit::of_client(&error));
        }
    };
    let end = Instant::now() + Duration::from_secs_f64(arguments.timeout);
    let profile = &arguments.profile;
    let expectations: [(Value, &str, AnswerCheck); 2] = [
        (pod_to_be_changed(profile), "the webhook fits a pod with GPUs", not_changed),
        (
            pod_to_be_refused(profile),
            "the webhook refuses a pod with two interfaces of one name",
            not_refused,
        ),
    ];
    for (pod, what, judge) in expectations {
        let problem = loop {
            let answer = runtime.block_on(send_pod_as_dry_run::send_pod_as_dry_run(
                &client,
                &arguments.namespace,
                &pod,
            ));
            match judge(&answer) {
                None => break None,
                Some(problem) if Instant::now() >= end => break Some(problem),
                // Webhook configurations and profiles become known some time after they are created.
                Some(_) => std::thread::sleep(PAUSE),
            }
        };
        if let Some(problem) = problem {
            write_error(err, format_args!("{what}: failed: {problem}"))?;
            return Ok(Exit::Findings);
        }
        writeln!(out, "ok: {what}")?;
    }
    Ok(Exit::Clean)
}
