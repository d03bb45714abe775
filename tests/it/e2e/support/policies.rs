//! What `rules export` prints, in force on the control plane for as long as a trial wants it.

use super::plane::Plane;
use crate::support::{root, run};
use std::time::Duration;

/// Refuses a ConfigMap of one name. The API server reads bindings in the order of their changes, so once this one,
/// which is changed last, counts (or no longer counts), so do all the others.
const LAST: &str = r#"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: e2e-last, labels: {e2e: last}}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "object.metadata.name != 'e2e-last'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: e2e-last, labels: {e2e: last}}
spec: {policyName: e2e-last, validationActions: [Deny]}
"#;

/// How long the API server may take to see a change; about a second where nothing else runs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The exported objects, put in place until this ends.
pub(crate) struct Policies<'a> {
    plane: &'a Plane,
}

impl<'a> Policies<'a> {
    /// Applies an export. Errors of expressions count as refusals here: in earnest they are passed over.
    pub(crate) fn apply(plane: &'a Plane, args: &[&str]) -> Result<Self, String> {
        let ran = run(&[&["rules", "export"], args].concat(), b"", root())?;
        if ran.code != 0 {
            return Err(format!("{ran:?}"));
        }
        let text = ran.stdout.replace("failurePolicy: Ignore", "failurePolicy: Fail");
        let made = Self { plane };
        for text in [text.as_str(), LAST] {
            let done = plane.kubectl(&["apply", "--validate=strict", "-f", "-"], text)?;
            if !done.ok || !done.stderr.is_empty() {
                return Err(done.stderr);
            }
        }
        plane.until("the policies are in force", PATIENCE, || made.last_counts())?;
        Ok(made)
    }

    /// Waits until each of some requests is answered with a word, as the policies come into force one by one.
    pub(crate) fn until(&self, what: &str, done: impl FnMut() -> Result<bool, String>) -> Result<(), String> {
        self.plane.until(what, Duration::from_secs(40), done)
    }

    fn last_counts(&self) -> Result<bool, String> {
        let named = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e2e-last, namespace: default}\n";
        let done = self.plane.kubectl(&["create", "--dry-run=server", "-f", "-"], named)?;
        Ok(!done.ok && done.stderr.contains("e2e-last"))
    }
}

/// Waits until nothing of them counts, so that the next trial meets none of them.
impl Drop for Policies<'_> {
    fn drop(&mut self) {
        let kinds = "validatingadmissionpolicybindings,validatingadmissionpolicies";
        for which in ["e2e!=last", "e2e=last"] {
            let _ = self.plane.kubectl(&["delete", kinds, "-l", which, "--wait=true"], "");
        }
        let gone = self.plane.until("the policies are gone", PATIENCE, || self.last_counts().map(|c| !c));
        if let Err(error) = gone {
            eprintln!("{error}");
        }
    }
}
