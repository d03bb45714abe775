//! FAB815: annotations that should set findings aside and do not. `suppression` makes its findings.

use crate::rules::{Meta, Rule, Severity, Waiver};

/// FAB815.
pub(super) struct Ignoring;

pub(in crate::rules) static IGNORING: Meta = Meta {
    id: "FAB815",
    severity: Severity::Warning,
    summary: "an annotation that should set findings aside and does not",
    what: "An annotation `fabric-admission.dev/ignore.FABnnn` of a pod, template or object names no rule, gives no \
           reason, or names a rule that cannot be set aside: one that keeps namespaces apart, one for what the API \
           server refuses, or one with an error that the profile does not let go. As information: nothing was found \
           that it would set aside.",
    why: "What was meant to be ignored counts all the same; and an annotation that has outlived its reason hides the \
          next fault.",
    fix: "Write the id of the rule as it is reported, with the reason as the value. Errors are set aside only under a \
          profile with `ignorable: errors`, or with `--ignorable errors` where there is no profile. Drop annotations \
          that set nothing aside.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    fabric-admission.dev/profile: site
    fabric-admission.dev/ignore.FAB402: ""
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    fabric-admission.dev/profile: site
    fabric-admission.dev/ignore.FAB402: "the plugin of this image reads words"
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    env:
    - {name: NCCL_CROSS_NIC, value: "on"}
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &["docs/suppressions.md"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Itself,
};

impl Rule for Ignoring {
    fn meta(&self) -> &'static Meta {
        &IGNORING
    }
}
