//! FAB404 to FAB407: what of a profile does not reach the ranks.

use crate::plan::{EnvRefusal, FILES_PATH, LeftOut, NCCL_CONF_PATH};
use crate::profile::Profile;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB404.
pub(super) struct EnvFrom;

static ENV_FROM: Meta = Meta {
    id: "FAB404",
    severity: Severity::Warning,
    summary: "variables not set because the container has envFrom",
    what: "A container that the profile is for takes variables from a ConfigMap or Secret, whose names are not in the \
           pod. NCCL's variables then travel in `/etc/nccl.conf`; this is about those that cannot: variables of other \
           libraries, and all of them where the container has a file of its own there.",
    why: "`env` wins over `envFrom`: setting a variable could change one that the ConfigMap sets, so nothing is set. \
          Without `NCCL_NET=IB`, NCCL falls back to TCP without an error.",
    fix: "Write the variables into the ConfigMap or into `env`.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: ethernet
  attachment: none
  env:
  - {name: GLOO_SOCKET_IFNAME, value: eth0}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    envFrom:
    - configMapRef: {name: nccl}
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: ethernet
  attachment: none
  env:
  - {name: GLOO_SOCKET_IFNAME, value: eth0}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    env:
    - {name: GLOO_SOCKET_IFNAME, value: eth0}
    envFrom:
    - configMapRef: {name: nccl}
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &[
        "kubernetes.io, Define Environment Variables for a Container: env takes precedence over envFrom",
        "NVIDIA/nccl src/misc/param.cc (setEnvFile)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for EnvFrom {
    fn meta(&self) -> &'static Meta {
        &ENV_FROM
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, _)) = context.resolution.profile() else { return };
        for left in context.plan.left_out.iter().filter(|l| l.why == EnvRefusal::EnvFrom) {
            findings.add(
                format!("/spec/containers/{}/envFrom", left.container),
                format!("{} not set: envFrom may hold {}{}", names(left), them(left), no_file(left)),
                format!("write into its ConfigMap or into env: {}", assignments(profile, left, "")),
            );
        }
    }
}

/// The variables, by name as far as a warning has room.
fn names(left: &LeftOut) -> String {
    match left.names.as_slice() {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        few => few.join(", "),
    }
}

fn them(left: &LeftOut) -> &'static str {
    if left.names.len() == 1 { "it" } else { "them" }
}

fn no_file(left: &LeftOut) -> String {
    left.file.as_ref().map_or(String::new(), |r| format!("; {NCCL_CONF_PATH} {}", r.words()))
}

/// The variables as a line to copy, each behind a prefix such as `-x `.
fn assignments(profile: &Profile, left: &LeftOut, prefix: &str) -> String {
    let entries = profile.env.iter().filter(|e| left.names.contains(&e.name));
    entries.map(|e| format!("{prefix}{}={}", e.name, e.value)).take(8).collect::<Vec<_>>().join(" ")
}

/// FAB405.
pub(super) struct RanksOverSsh;

static RANKS_OVER_SSH: Meta = Meta {
    id: "FAB405",
    severity: Severity::Warning,
    summary: "variables not set because ranks are started over ssh",
    what: "A pod that the profile is for starts its ranks over ssh: a worker of an MPIJob, a container that runs sshd, or \
           annotation `fabric-admission.dev/ranks: ssh`. NCCL's variables then travel in `/etc/nccl.conf`; this is about \
           those that cannot: variables of other libraries, and all of them where the container has a file of its own \
           there.",
    why: "sshd starts processes with an environment of its own. A variable in the container's `env` would look right in \
          the manifest and change nothing in the ranks, so none is set.",
    fix: "Pass the variables where the ranks are started: `mpirun -x NAME=VALUE` on the launcher.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: ethernet
  attachment: none
  env:
  - {name: UCX_NET_DEVICES, value: eth0}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: worker
    image: example.com/trainer:1
    command: [/usr/sbin/sshd, -De]
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: ethernet
  attachment: none
  env:
  - {name: UCX_NET_DEVICES, value: eth0}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: worker
    image: example.com/trainer:1
    command: [torchrun, train.py]
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &["kubeflow/mpi-operator pkg/controller (worker command)", "OpenSSH sshd(8), LOGIN PROCESS"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for RanksOverSsh {
    fn meta(&self) -> &'static Meta {
        &RANKS_OVER_SSH
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, _)) = context.resolution.profile() else { return };
        for left in context.plan.left_out.iter().filter(|l| l.why == EnvRefusal::Ssh) {
            findings.add(
                format!("/spec/containers/{}", left.container),
                format!(
                    "{} not set: ranks over ssh do not see the container's env{}",
                    names(left),
                    no_file(left)
                ),
                format!("on the launcher: mpirun {}", assignments(profile, left, "-x ")),
            );
        }
    }
}

/// FAB406.
pub(super) struct NoFiles;

static NO_FILES: Meta = Meta {
    id: "FAB406",
    severity: Severity::Warning,
    summary: "files of the profile that a container does not get",
    what: "The profile has small files, such as a topology, and a container that it is for mounts something at \
           `/etc/fabric-admission`, above or below it; or the pod's annotations, in which they travel, would pass \
           256 KiB; or its volumes have every name that ours may have.",
    why: "A variable of the profile that points to such a file finds none. NCCL then goes by what the machine shows \
          (`Could not open XML topology file`), which in a virtual machine is a flat PCI tree: GPU-direct is off and \
          training slower.",
    fix: "Mount single files below `/etc` instead of all of it, or put the files into the image.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: ethernet
  attachment: none
  files:
  - {name: topology.xml, content: <system version="1"/>}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    volumeMounts:
    - {name: settings, mountPath: /etc}
    resources: {limits: {nvidia.com/gpu: 1}}
  volumes:
  - name: settings
    configMap: {name: settings}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: ethernet
  attachment: none
  files:
  - {name: topology.xml, content: <system version="1"/>}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    volumeMounts:
    - {name: settings, mountPath: /etc/trainer.conf, subPath: trainer.conf}
    resources: {limits: {nvidia.com/gpu: 1}}
  volumes:
  - name: settings
    configMap: {name: settings}
"#,
    sources: &[
        "NVIDIA/nccl src/graph/xml.cc (ncclTopoGetXmlFromFile)",
        "k8s.io/apimachinery pkg/api/validation/objectmeta.go",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for NoFiles {
    fn meta(&self) -> &'static Meta {
        &NO_FILES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, _)) = context.resolution.profile() else { return };
        for (index, refusal) in &context.plan.file_refusals {
            findings.add(
                format!("/spec/containers/{index}"),
                format!("files of profile {} are missing: {FILES_PATH} {}", profile.name, refusal.words()),
                "mount single files below /etc, or put the profile's files into the image",
            );
        }
    }
}

/// FAB407.
pub(super) struct UnknownVersion;

static UNKNOWN_VERSION: Meta = Meta {
    id: "FAB407",
    severity: Severity::Info,
    summary: "a variable for some versions of NCCL, and an image whose version is not known",
    what: "The profile has a variable with `ncclFrom` or `ncclBefore`, and neither the name of the image (`nccl2.21.5` in \
           it, or a release of `pytorch/pytorch` that is known) nor the profile (`ncclVersion`) tells which NCCL is in it.",
    why: "NCCL changes what a variable means: `NCCL_IB_GID_INDEX` must be set up to 2.20, and switches the automatic choice \
          off from 2.21 on. A value for another version is worse than none, so none is set.",
    fix: "Say `ncclVersion` in the profile, name images by their version, or set the variable in the pod.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: ethernet
  attachment: none
  env:
  - {name: NCCL_IB_GID_INDEX, value: "3", ncclBefore: "2.21"}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
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
  transport: ethernet
  attachment: none
  env:
  - {name: NCCL_IB_GID_INDEX, value: "3", ncclBefore: "2.21"}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1-nccl2.20.5
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &["NVIDIA/nccl src/transport/net_ib (ncclParamIbGidIndex), 2.20 and 2.21"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for UnknownVersion {
    fn meta(&self) -> &'static Meta {
        &UNKNOWN_VERSION
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, _)) = context.resolution.profile() else { return };
        for (index, name) in &context.plan.unknown_version {
            let image = context.pod().containers().get(*index).and_then(|c| c.image.as_deref());
            findings.add(
                format!("/spec/containers/{index}/image"),
                format!(
                    "{name} not set: it is for some versions of NCCL, and that of {} is not known",
                    printable(image.unwrap_or("the image"), 60)
                ),
                format!("say ncclVersion in profile {}, or set {name} in the pod", profile.name),
            );
        }
    }
}
