//! `probe`: whether the API server calls the webhook, as only a create through the API server can show. Network policies,
//! firewalls, certificates and selectors are all on that way. `helm test` runs it.

use super::Exit;
use crate::cluster::CallFault;
use crate::cluster::client::connect;
use crate::cluster::dry_run::{Answer, create_pod};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(500);
/// The annotation that names a pod's profile.
const PROFILE: &str = "fabric-admission.dev/profile";
/// Two interfaces of one name, which nothing can fix: the last webhook refuses the pod, and no earlier one.
const BROKEN_NETWORKS: &str = "probe@net1,probe@net1";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Namespace of the two pods; must have mode `enforce`
    #[arg(long, short, value_name = "NAME")]
    namespace: String,
    /// Profile that the namespace may use
    #[arg(long, value_name = "NAME")]
    profile: String,
    /// Kubeconfig of the API server; default: the pod's service account
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_KUBECONFIG")]
    kubeconfig: Option<PathBuf>,
    /// Time limit for both pods, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = super::values::seconds)]
    timeout: f64,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            writeln!(err, "error: cannot start the runtime: {error}")?;
            return Ok(Exit::Internal);
        }
    };
    let client = match runtime.block_on(connect(arguments.kubeconfig.as_deref(), None)) {
        Ok(client) => client,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::Internal);
        }
    };
    let end = Instant::now() + Duration::from_secs_f64(arguments.timeout);
    let profile = &arguments.profile;
    let good = pod(&json!({PROFILE: profile}));
    let bad = pod(&json!({PROFILE: profile, "k8s.v1.cni.cncf.io/networks": BROKEN_NETWORKS}));
    let expectations: [(Value, &str, Judge); 2] = [
        (good, "the webhook fits a pod with GPUs", fitted),
        (bad, "the webhook refuses a pod with two interfaces of one name", refused),
    ];
    for (pod, what, judge) in expectations {
        let problem = loop {
            let answer = runtime.block_on(create_pod(&client, &arguments.namespace, &pod));
            match judge(&answer) {
                None => break None,
                Some(problem) if Instant::now() >= end => break Some(problem),
                // Webhook configurations and profiles become known some time after they are created.
                Some(_) => std::thread::sleep(PAUSE),
            }
        };
        if let Some(problem) = problem {
            writeln!(err, "error: {what}: failed: {problem}")?;
            return Ok(Exit::Findings);
        }
        writeln!(out, "ok: {what}")?;
    }
    Ok(Exit::Clean)
}

/// What an answer lacks.
type Judge = fn(&Result<Answer, CallFault>) -> Option<String>;

fn fitted(answer: &Result<Answer, CallFault>) -> Option<String> {
    match answer {
        Ok(Answer::Created(pod)) if pod.pointer(INJECTED).is_some() => None,
        Ok(Answer::Created(_)) => Some(
            "the API server creates the pod unchanged. Check that the namespace has the label \
             fabric-admission.dev/mode: enforce, and that /readyz of the server shows no problem."
                .to_owned(),
        ),
        Ok(Answer::Refused(message)) => Some(explained(message)),
        Err(fault) => Some(unreachable(fault)),
    }
}

/// The pointer of the annotation that every changed pod has.
const INJECTED: &str = "/metadata/annotations/fabric-admission.dev~1injected";

/// The webhook that checks final pods.
const ENFORCE: &str = "enforce.fabric-admission.dev";

fn refused(answer: &Result<Answer, CallFault>) -> Option<String> {
    match answer {
        Ok(Answer::Refused(message)) if message.contains(ENFORCE) && message.contains("FAB105") => None,
        Ok(Answer::Refused(message)) => Some(explained(message)),
        Ok(Answer::Created(_)) => {
            Some(format!("the API server creates the pod. Check that the webhook {ENFORCE} exists."))
        }
        Err(fault) => Some(unreachable(fault)),
    }
}

fn unreachable(fault: &CallFault) -> String {
    format!("the API server does not answer: {fault}")
}

/// Signatures of messages that operators have met, and what to do about each.
const SIGNATURES: [(&str, &str); 6] = [
    (
        "x509:",
        "The caBundle does not match the server's certificate: /readyz of the server and certs/README.md explain it.",
    ),
    (
        "context deadline exceeded",
        "The control plane does not reach the webhook port of the pods: check firewalls and network policies.",
    ),
    ("connection refused", "No server listens: check the pods and their logs."),
    ("no endpoints available", "No replica is ready: /readyz of the server gives the reason."),
    ("not found", "Create the missing object, or correct --namespace."),
    ("is forbidden", "This account needs the right to create pods in the namespace."),
];

fn explained(message: &str) -> String {
    let fix = SIGNATURES.iter().find(|(signature, _)| message.contains(signature));
    fix.map_or_else(|| message.to_owned(), |(_, fix)| format!("{message}. {fix}"))
}

/// A pod with accelerators that the restricted Pod Security level admits.
fn pod(annotations: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"generateName": "fabric-admission-probe-", "annotations": annotations},
        "spec": {
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "probe", "image": "fabric-admission.invalid/probe",
                "resources": {"limits": {"nvidia.com/gpu": "8"}},
                "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}
            }]
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_what_is_expected_or_why_it_is_not() {
        let created = |pod| Ok(Answer::Created(pod));
        let changed = json!({"metadata": {"annotations": {"fabric-admission.dev/injected": "p@1"}}});
        assert_eq!(fitted(&created(changed.clone())), None);
        assert!(fitted(&created(json!({}))).is_some_and(|p| p.contains("mode: enforce")));
        assert!(refused(&created(changed)).is_some());
        let denied = |text: &str| Ok(Answer::Refused(text.to_owned()));
        assert_eq!(
            refused(&denied(
                r#"admission webhook "enforce.fabric-admission.dev" denied the request: 1 error, FAB105"#
            )),
            None
        );
        let down = denied("failed calling webhook: context deadline exceeded");
        for judge in [fitted, refused] {
            assert!(judge(&down).is_some_and(|p| p.contains("check firewalls")));
        }
        assert!(fitted(&Err(CallFault::Timeout)).is_some_and(|p| p.contains("does not answer")));
    }
}
