//! How the ranks of a job are started, by the pod's fields.

use super::pod_fields::PodView;
use super::shell::lines_without_comments;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Annotation that settles it: `ssh`.
pub const RANKS_ANNOTATION: &str = "fabric-admission.dev/ranks";

/// Whether ranks are started over ssh inside the pod: the annotation says so, mpi-operator's labels mark a worker
/// (kubeflow/mpi-operator pkg/controller; kubeflow/training-operator sets the same labels), or a container runs sshd.
#[must_use]
pub fn are_ranks_started_over_ssh(pod: &PodView<'_>) -> bool {
    if let Some(ranks) = pod.annotation(RANKS_ANNOTATION) {
        return ranks == "ssh";
    }
    let labels = pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
    let label = |key: &str| labels.and_then(|l| l.get(key)).map(|v| &**v);
    let operator = label("training.kubeflow.org/operator-name").or_else(|| label("group-name"));
    let role = label("training.kubeflow.org/job-role")
        .or_else(|| label("training.kubeflow.org/replica-type"))
        .or_else(|| label("mpi-job-role"));
    let mpi_worker = role.is_some_and(|r| r.eq_ignore_ascii_case("worker"))
        && (operator.is_some_and(|o| o.starts_with("mpi")) || label("mpi-job-role").is_some());
    mpi_worker
        || pod.containers().iter().any(|c| {
            c.command_and_argument_words().any(runs_sshd)
                && !c.command_and_argument_words().any(names_launcher_of_local_ranks)
        })
}

static SSHD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("sshd"));

/// A program by its path in sbin, or `sshd` as the first word of a command.
fn runs_sshd(text: &str) -> bool {
    SSHD.find(text.as_bytes()).is_some() && is_sshd_run(text)
}

fn is_sshd_run(text: &str) -> bool {
    text.trim_start().split(char::is_whitespace).next() == Some("sshd")
        || lines_without_comments(text)
            .flat_map(|(_, part)| {
                part.split(|c: char| {
                    c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\'')
                })
            })
            .any(|word| word.ends_with("/sbin/sshd"))
}

/// Launchers that start ranks as their own children, which see the container's variables.
fn names_launcher_of_local_ranks(text: &str) -> bool {
    lines_without_comments(text)
        .any(|(_, part)| LAUNCHERS.iter().any(|word| word.find(part.as_bytes()).is_some()))
}

/// Made once: to prepare a search takes longer than to search a short line.
static LAUNCHERS: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| ["torchrun", "torch.distributed", "deepspeed", "accelerate launch"].map(Finder::new));

#[cfg(test)]
mod tests {
    use super::*;

    fn ssh(json: &str) -> bool {
        are_ranks_started_over_ssh(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn evidence() {
        assert!(ssh(r#"{"spec":{"containers":[{"command":["/usr/sbin/sshd","-De"]}]}}"#));
        assert!(ssh(
            r#"{"spec":{"containers":[{"args":["-c","mkdir /run/sshd; exec /usr/sbin/sshd -D"]}]}}"#
        ));
        assert!(ssh(
            r#"{"metadata":{"labels":{"training.kubeflow.org/operator-name":"mpi-operator","training.kubeflow.org/job-role":"worker"}}}"#
        ));
        assert!(ssh(r#"{"metadata":{"annotations":{"fabric-admission.dev/ranks":"ssh"}}}"#));
    }

    #[test]
    fn no_evidence() {
        assert!(!ssh(
            r#"{"spec":{"containers":[{"command":["torchrun","train.py"],"args":["sshd_config"]}]}}"#
        ));
        assert!(!ssh(
            r#"{"spec":{"containers":[{"args":["-c","mkdir -p /var/run/sshd; torchrun train.py"]}]}}"#
        ));
        assert!(!ssh(r##"{"spec":{"containers":[{"args":["-c","run # after /usr/sbin/sshd"]}]}}"##));
        assert!(!ssh(
            r#"{"metadata":{"labels":{"training.kubeflow.org/operator-name":"pytorchjob-controller","training.kubeflow.org/replica-type":"worker"}}}"#
        ));
    }
}
