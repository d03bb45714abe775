//! Two pods that show whether the API server calls the webhook, and what their answers mean. Only a create through the
//! API server can show it: network policies, firewalls, certificates and selectors are all on that way.

use serde_json::{Value, json};

/// The answer of the API server to a pod that was created as a dry run.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The pod as it would be stored.
    Created(Value),
    /// The pod is refused.
    Refused {
        /// The API server's message.
        message: String,
        /// The reason, such as `Forbidden`.
        reason: String,
    },
    /// The API server did not answer; why.
    Unanswered(String),
}

/// The annotation that names a pod's profile.
const PROFILE: &str = "fabric-admission.dev/profile";
/// The pointer of the annotation that every changed pod has.
const INJECTED: &str = "/metadata/annotations/fabric-admission.dev~1injected";
/// Two interfaces of one name, which nothing can fix: the last webhook refuses the pod, and no earlier one.
const BROKEN_NETWORKS: &str = "probe@net1,probe@net1";
/// Rule about these.
const BROKEN_RULE: &str = "FAB105";
/// The webhook that checks final pods.
const ENFORCE: &str = "enforce.fabric-admission.dev";

/// A pod that the webhook changes.
#[must_use]
pub fn pod_to_be_changed(profile: &str) -> Value {
    probe_pod(&json!({PROFILE: profile}))
}

/// A pod that the webhook refuses.
#[must_use]
pub fn pod_to_be_refused(profile: &str) -> Value {
    probe_pod(&json!({PROFILE: profile, "k8s.v1.cni.cncf.io/networks": BROKEN_NETWORKS}))
}

/// A pod with accelerators that the restricted Pod Security level admits.
fn probe_pod(annotations: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"generateName": "fabric-admission-probe-", "annotations": annotations},
        "spec": {
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "probe", "image": "fabric-admission.invalid/probe",
                // A quota of cpu or memory refuses a pod without these.
                "resources": {
                    "requests": {"cpu": "10m", "memory": "16Mi", "nvidia.com/gpu": "8"},
                    "limits": {"cpu": "10m", "memory": "16Mi", "nvidia.com/gpu": "8"}
                },
                "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}
            }]
        }
    })
}

/// A wrong answer: what is wrong, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub fix: String,
}

impl Wrong {
    fn new(problem: &str, fix: &str) -> Self {
        Self { problem: problem.to_owned(), fix: fix.to_owned() }
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}. {}", self.problem, self.fix)
    }
}

/// What is wrong with the answer to the good pod.
#[must_use]
pub fn not_changed(answer: &Answer) -> Option<Wrong> {
    match answer {
        Answer::Created(pod) if pod.pointer(INJECTED).is_some() => None,
        Answer::Created(_) => Some(Wrong::new(
            "the API server creates the pod unchanged",
            "Check that the namespace has the label fabric-admission.dev/mode: enforce, and that /readyz of the server \
             shows no problem.",
        )),
        Answer::Refused { message, .. } => Some(explained(message)),
        Answer::Unanswered(why) => Some(unanswered(why)),
    }
}

/// What is wrong with the answer to the bad pod. A denial counts only if it is ours: that of another webhook, or a failed
/// call, looks alike to whoever reads only the status.
#[must_use]
pub fn not_refused(answer: &Answer) -> Option<Wrong> {
    match answer {
        Answer::Refused { message, reason }
            if reason == "Forbidden"
                && message.starts_with(&format!("admission webhook {ENFORCE:?} denied the request: "))
                && message.contains(BROKEN_RULE) =>
        {
            None
        }
        Answer::Refused { message, .. } => Some(explained(message)),
        Answer::Created(_) => Some(Wrong::new(
            "the API server creates the pod",
            &format!("Check that the webhook {ENFORCE} exists."),
        )),
        Answer::Unanswered(why) => Some(unanswered(why)),
    }
}

fn unanswered(why: &str) -> Wrong {
    Wrong::new(
        &format!("the API server does not answer: {why}"),
        "Check the connection to the API server, and its load.",
    )
}

/// Signatures of messages that operators have met, and what to do about each.
const SIGNATURES: [(&str, &str); 14] = [
    (
        "certificate has expired",
        "The server's certificate has expired or is not valid yet, or the clock of the control plane is wrong: /readyz and \
         the log of the server give the reason.",
    ),
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
    ("Service Unavailable", "No replica is ready: /readyz of the server gives the reason."),
    (
        "could not find the requested resource",
        "Another program or another version answers at this path: check that the Service selects only the server's pods.",
    ),
    (
        "exceeded quota",
        "Raise the quota of the namespace: the pod requests 8 nvidia.com/gpu, the units of the profile, 10m cpu and 16Mi \
         memory.",
    ),
    (
        "failed quota",
        "A quota of the namespace requires a resource that the pod does not request. Set a default for this resource in a LimitRange.",
    ),
    (
        " usage per ",
        "A LimitRange of the namespace refuses the pod, which requests 8 nvidia.com/gpu, the units of the profile, 10m cpu \
         and 16Mi memory. Change its min or max.",
    ),
    (
        "limit to request ratio per ",
        "A LimitRange of the namespace refuses the ratio of the pod's limits to its requests. Change its \
         maxLimitRequestRatio.",
    ),
    (
        "violates PodSecurity",
        "The Pod Security level of the namespace refuses what the message names. Change the level, or the profile that adds \
         it.",
    ),
    ("cannot create resource \"pods\"", "This account needs the right to create pods in the namespace."),
    ("not found", "Create the missing object, or correct --namespace."),
];

/// The webhook that the API server could not call (k8s.io/apiserver pkg/admission/plugin/webhook/errors.go).
fn uncalled(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("failed calling webhook \"")?;
    rest.split_once('"').map(|(name, _)| name)
}

fn explained(message: &str) -> Wrong {
    // First of all: a webhook may write any of the signatures into its denial.
    if message.starts_with("admission webhook ") && message.contains(" denied the request") {
        let fix = if message.contains(".fabric-admission.dev\" denied") {
            "Correct what the message of the webhook names."
        } else {
            "Another webhook refuses the pod. Let that webhook admit the pod, or label another namespace with mode enforce."
        };
        return Wrong::new(message, fix);
    }
    if let Some(name) = uncalled(message).filter(|name| !name.ends_with(".fabric-admission.dev")) {
        let fix = format!(
            "The API server cannot call the webhook {name} of another program. Repair that webhook, or let its selector leave \
             out this namespace."
        );
        return Wrong::new(message, &fix);
    }
    let fix = SIGNATURES.iter().find(|(signature, _)| message.contains(signature)).map(|(_, fix)| *fix);
    Wrong::new(message, fix.unwrap_or("Correct what the message of the API server names."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(message: &str) -> Answer {
        Answer::Refused { message: message.to_owned(), reason: "Forbidden".to_owned() }
    }

    #[test]
    fn an_answer_is_what_is_expected_or_why_it_is_not() {
        let changed =
            Answer::Created(json!({"metadata": {"annotations": {"fabric-admission.dev/injected": "p@1"}}}));
        assert_eq!(not_changed(&changed), None);
        assert!(not_changed(&Answer::Created(json!({}))).is_some_and(|w| w.fix.contains("mode: enforce")));
        assert!(not_refused(&changed).is_some_and(|w| w.fix.contains(ENFORCE)));
        let ours = r#"admission webhook "enforce.fabric-admission.dev" denied the request: 1 error, FAB105"#;
        assert_eq!(not_refused(&denied(ours)), None);
        let down = denied("failed calling webhook: context deadline exceeded");
        for judge in [not_changed, not_refused] {
            assert!(judge(&down).is_some_and(|w| w.fix.contains("check firewalls")));
            assert!(
                judge(&Answer::Unanswered("slow".into()))
                    .is_some_and(|w| w.problem.contains("does not answer"))
            );
        }
    }

    /// Messages of k8s.io/apiserver (pkg/admission/plugin/webhook), k8s.io/kubernetes (plugin/pkg/admission/resourcequota
    /// and limitranger), k8s.io/pod-security-admission and Go's crypto/x509.
    #[test]
    fn a_refusal_has_the_fix_of_its_cause() {
        for (message, fix) in [
            (
                r#"pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "n""#,
                "the right to create pods",
            ),
            (r#"pods "p" is forbidden: failed quota: q: must specify limits.cpu for: probe"#, "A quota"),
            (r#"pods "p" is forbidden: exceeded quota: q, requested: cpu=10m"#, "Raise the quota"),
            (
                r#"pods "p" is forbidden: minimum memory usage per Container is 1Gi, but request is 16Mi"#,
                "A LimitRange",
            ),
            (
                r#"pods "p" is forbidden: cpu max limit to request ratio per Pod is 1, but provided ratio is 2"#,
                "A LimitRange",
            ),
            (r#"pods "p" is forbidden: violates PodSecurity "restricted:latest": x"#, "Pod Security level"),
            (
                "failed calling webhook \"enforce.fabric-admission.dev\": tls: failed to verify certificate: x509: \
                 certificate has expired or is not yet valid",
                "has expired",
            ),
            (
                r#"failed calling webhook "mutate.fabric-admission.dev": x509: certificate signed by unknown authority"#,
                "The caBundle does not match",
            ),
            (
                r#"failed calling webhook "inject.example.com": x509: certificate signed by unknown authority"#,
                "the webhook inject.example.com of another program",
            ),
            (
                r#"failed calling webhook "inject.example.com": Post "https://a": context deadline exceeded"#,
                "the webhook inject.example.com of another program",
            ),
            (r#"admission webhook "other" denied the request: image not found"#, "Another webhook"),
            (
                r#"admission webhook "enforce.fabric-admission.dev" denied the request: network a/b not found"#,
                "message of the webhook",
            ),
        ] {
            let wrong = not_changed(&denied(message)).unwrap();
            assert!(wrong.fix.contains(fix), "{message}: {}", wrong.fix);
        }
    }

    /// A quota of cpu or memory refuses pods without requests and limits of these.
    #[test]
    fn the_pod_requests_what_quotas_ask_for() {
        for kind in ["requests", "limits"] {
            for resource in ["cpu", "memory"] {
                let pod = pod_to_be_changed("p");
                let found = pod.pointer(&format!("/spec/containers/0/resources/{kind}/{resource}"));
                assert!(found.is_some(), "{kind} {resource}");
            }
        }
    }

    /// A denial by another webhook proves nothing: linkerd's check stayed green while nothing was injected (linkerd2
    /// #9672).
    #[test]
    fn only_our_denial_counts() {
        for message in [
            r#"admission webhook "other.example.com" denied the request: enforce.fabric-admission.dev FAB105"#,
            r#"failed calling webhook "enforce.fabric-admission.dev": FAB105"#,
            r#"admission webhook "enforce.fabric-admission.dev" denied the request: 1 error, FAB804"#,
        ] {
            assert!(not_refused(&denied(message)).is_some(), "{message}");
        }
        let message =
            r#"admission webhook "enforce.fabric-admission.dev" denied the request: FAB105"#.to_owned();
        let other = Answer::Refused { message, reason: "Invalid".to_owned() };
        assert!(not_refused(&other).is_some());
    }
}
