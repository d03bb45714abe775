//! FAB418: a variable that is given twice.

use super::given::{Given, Place};
use crate::pod::shell::How;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB418.
pub(super) struct SetTwice;

static SET_TWICE: Meta = Meta {
    id: "FAB418",
    severity: Severity::Warning,
    summary: "a variable that is given two values",
    what: "A variable of NCCL or a companion that stands twice in `env` with different values, or in `env` and again in the \
           text of the command (`export N=V`, `mpirun -x N=V`); `${N:-V}`, which keeps a value that is there, is no second one. \
           Information where `env` covers a value of a ConfigMap in `envFrom`.",
    why: "The last entry of `env` counts, and what the command sets counts before all of them. Who changes the other one \
          wonders why nothing happens.",
    fix: "Give it in one place.",
    bad: pod!("    - {name: NCCL_DEBUG, value: INFO}\n    - {name: NCCL_DEBUG, value: WARN}\n"),
    good: pod!("    - {name: NCCL_DEBUG, value: WARN}\n"),
    sources: &[
        "kubernetes/kubernetes pkg/kubelet/kubelet_pods.go (makeEnvironmentVariables)",
        "POSIX.1-2024, Shell Command Language, 2.9.1 (assignments and the environment of a command)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB34", "NB35"],
    waiver: Waiver::Allowed,
};

impl Rule for SetTwice {
    fn meta(&self) -> &'static Meta {
        &SET_TWICE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            // By name, what counts more comes later.
            let mut env: Option<(&Given<'_>, &str)> = None;
            let mut told = "";
            for (given, value) in spoken.values() {
                let name = &*given.name;
                let before = env.filter(|(g, before)| g.name == name && told != name && *before != value);
                let found = before.and_then(|(first, before)| Some((first, before, wins(first, given)?)));
                if let Some((first, before, (severity, wins))) = found {
                    told = name;
                    // A secret stays out of messages.
                    let shown = |text: &str| match name.ends_with("_PSK") {
                        true => "…".to_owned(),
                        false => printable(text, 30),
                    };
                    let message = format!(
                        "{name}={} and {}{}: {wins}",
                        shown(before),
                        shown(value),
                        spoken.place(given)
                    );
                    findings.add_as(severity, spoken.path(first), message, "keep one of the two");
                }
                if matches!(given.place, Place::Env(_) | Place::EnvFrom(..)) {
                    env = Some((given, value));
                }
            }
        }
    }
}

fn wins(first: &Given<'_>, second: &Given<'_>) -> Option<(Severity, &'static str)> {
    Some(match (first.place, second.place, second.how) {
        (Place::Env(_), Place::Env(_), _) => (Severity::Warning, "the last entry of env counts"),
        (Place::EnvFrom(..), Place::EnvFrom(..), _) => (Severity::Info, "the last source of envFrom counts"),
        (Place::EnvFrom(..), Place::Env(_), _) => {
            (Severity::Info, "env counts, not the ConfigMap of envFrom")
        }
        (Place::Env(_) | Place::EnvFrom(..), Place::Text(..) | Place::Script(..), How::Sets) => {
            (Severity::Warning, "what the command sets counts")
        }
        _ => return None,
    })
}
