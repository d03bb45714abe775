//! FAB4xx: variables of NCCL and its companions.

use super::given::Place;
use super::transport::pins_verbs;
use crate::nccl::Reading;
use crate::nccl::number::{is_open, is_word, leading_number, reads_number};
use crate::plan::{Applies, applies, unused_interface};
use crate::profile::schema::EnvPolicy;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB401.
pub(super) struct IbDisabled;

static IB_DISABLED: Meta = Meta {
    id: "FAB401",
    severity: Severity::Error,
    summary: "NCCL_IB_DISABLE switches verbs off on a container that asks for RDMA",
    what: "A container that gets an RDMA device and sets `NCCL_IB_DISABLE` to a number other than 0, as NCCL reads \
           numbers. A warning where something else may use the device (variables of UCX, NVSHMEM, libfabric, Open MPI) or \
           `NCCL_NET=Socket` says it on purpose. Containers that name another transport (`NCCL_NET`, `NCCL_NET_PLUGIN`) \
           are left alone.",
    why: "NCCL skips InfiniBand and RoCE and runs over TCP (`NET/Socket : Using`), ten to a hundred times slower, while \
          the NIC stays reserved.",
    fix: "Drop the variable; its default is 0.",
    bad: r#"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    env:
    - {name: NCCL_IB_DISABLE, value: "1"}
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
"#,
    good: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
",
    sources: &["NVIDIA/nccl src/transport/net_ib (ncclParamIbDisable), src/misc/param.cc"],
    since: "0.1.0",
    kinds: &[],
    also: &["NB01"],
    waiver: Waiver::Allowed,
};

impl Rule for IbDisabled {
    fn meta(&self) -> &'static Meta {
        &IB_DISABLED
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            let index = spoken.index;
            let off = spoken.last("NCCL_IB_DISABLE").and_then(|g| Some((g, g.value.as_deref()?)));
            let Some((given, text)) = off else { continue };
            if is_open(text)
                || leading_number(text) == 0
                || !context.has_rdma(index)
                || pins_verbs(spoken).is_some()
            {
                continue;
            }
            // A plugin brings its own transport and does not ask this variable.
            let named = |name, builtin: &[&str]| match spoken.last(name).map(|g| g.value.as_deref()) {
                Some(Some(v)) => !v.is_empty() && !builtin.iter().any(|b| v.eq_ignore_ascii_case(b)),
                Some(None) => true,
                None => false,
            };
            if named("NCCL_NET", &["IB", "Socket"]) || named("NCCL_NET_PLUGIN", &["none"]) {
                continue;
            }
            // UCX, NVSHMEM and libfabric use verbs whatever NCCL does, and NCCL_NET=Socket is said on purpose.
            let verbs_elsewhere = spoken.own().any(|g| {
                ["UCX_", "NVSHMEM_", "FI_", "OMPI_"].iter().any(|prefix| g.name.starts_with(prefix))
            }) || spoken
                .container
                .env()
                .iter()
                .filter_map(|e| e.name.as_deref())
                .any(|n| ["NIXL_", "MOONCAKE_", "MC_"].iter().any(|prefix| n.starts_with(prefix)));
            let on_purpose = spoken.value("NCCL_NET").is_some_and(|v| v.eq_ignore_ascii_case("Socket"));
            // What a script sets it may set on a branch that is never taken.
            let sure = matches!(given.place, Place::Env(_) | Place::Planned);
            let severity =
                if verbs_elsewhere || on_purpose || !sure { Severity::Warning } else { Severity::Error };
            findings.add_as(
                severity,
                spoken.path(given),
                format!("NCCL_IB_DISABLE={}{} with an RDMA device: NCCL runs over TCP, the NIC is reserved for nothing", printable(text, 20), spoken.place(given)),
                "drop NCCL_IB_DISABLE; its default is 0",
            );
        }
    }
}

/// FAB402.
pub(super) struct WordForNumber;

static WORD_FOR_NUMBER: Meta = Meta {
    id: "FAB402",
    severity: Severity::Warning,
    summary: "a word where NCCL reads a number",
    what: "A variable that NCCL or RCCL parses as a number and whose value does not start with one, such as `true`, \
           `yes`, `on` or `auto`. Names come from NCCL 2.30.7's source.",
    why: "NCCL parses with strtoll and does not complain: any word is 0. `NCCL_IB_DISABLE=true` leaves InfiniBand on, \
          `NCCL_NVLS_ENABLE=true` turns NVLS off, `NCCL_IB_GID_INDEX=auto` selects row 0.",
    fix: "Write the number: 1 for on, 0 for off; drop the variable for the default.",
    bad: r#"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    env:
    - {name: NCCL_NVLS_ENABLE, value: "true"}
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    env:
    - {name: NCCL_NVLS_ENABLE, value: "1"}
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &["NVIDIA/nccl src/misc/param.cc, src/param"],
    since: "0.1.0",
    kinds: &[],
    also: &["NB05"],
    waiver: Waiver::Allowed,
};

impl Rule for WordForNumber {
    fn meta(&self) -> &'static Meta {
        &WORD_FOR_NUMBER
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            for (given, value) in spoken.values() {
                let Some(known) = given.known.filter(|k| reads_number(k) && is_word(value)) else { continue };
                let acts = match known.reading {
                    Reading::One => "NCCL acts on 1 alone, so it has no effect",
                    _ => "NCCL reads it as 0",
                };
                let path = match given.place {
                    Place::Env(_) => format!("{}/value", spoken.path(given)),
                    _ => spoken.path(given),
                };
                findings.add(
                    path,
                    format!("{}={}{}: {acts}", known.name, printable(value, 40), spoken.place(given)),
                    format!("write {} as a number, or drop it for the default", known.name),
                );
            }
        }
    }
}

/// FAB403.
pub(super) struct DiffersFromProfile;

static DIFFERS_FROM_PROFILE: Meta = Meta {
    id: "FAB403",
    severity: Severity::Error,
    summary: "a variable that differs from the profile",
    what: "Compares the container's own variables with those of its profile. Information where the profile only \
           proposes a value; an error where it requires another one (`policy: require`) or forbids the variable \
           (`policy: forbid`). The user's value is never changed.",
    why: "Ranks with other settings than their peers hang or take a slower path; a required value is there because the \
          fabric does not work without it.",
    fix: "Drop the variable so that the profile's value is set, or ask the owner of the profile.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: ethernet
  attachment: none
  env:
  - {name: NCCL_SOCKET_IFNAME, value: eth0, policy: require}
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
    - {name: NCCL_SOCKET_IFNAME, value: "^docker,lo"}
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: ethernet
  attachment: none
  env:
  - {name: NCCL_SOCKET_IFNAME, value: eth0, policy: require}
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
    - {name: NCCL_SOCKET_IFNAME, value: eth0}
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &["NVIDIA/nccl#626, #743, #1277 (settings that differ between ranks)"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for DiffersFromProfile {
    fn meta(&self) -> &'static Meta {
        &DIFFERS_FROM_PROFILE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, _)) = context.resolution.profile() else { return };
        for target in &context.plan.targets {
            let Some(container) = context.pod().containers().get(target.index) else { continue };
            for entry in &profile.env {
                let Some((nth, own)) = container.env_var(&entry.name) else { continue };
                if applies(entry, container, profile) != Applies::Yes {
                    continue;
                }
                // A value that this pod cannot use is no measure for the user's.
                if unused_interface(entry, &context.plan.unused_interfaces).is_some() {
                    continue;
                }
                let path = format!("/spec/containers/{}/env/{nth}", target.index);
                let name = &entry.name;
                if entry.policy == EnvPolicy::Forbid {
                    findings.add(
                        path,
                        format!("profile {} forbids {name}: {}", profile.name, entry.reason),
                        format!("drop {name}"),
                    );
                    continue;
                }
                let Some(value) = own.literal().filter(|v| *v != entry.value) else { continue };
                let shown = printable(value, 60);
                let message = format!("{name}={shown} stays; profile {} has {}", profile.name, entry.value);
                if entry.policy == EnvPolicy::Require {
                    let message =
                        format!("{name}={shown}, but profile {} requires {}", profile.name, entry.value);
                    findings.add(path, message, format!("drop {name}, or set it to {}", entry.value));
                } else {
                    findings.add_as(
                        Severity::Info,
                        path,
                        message,
                        format!("drop {name} to get the profile's value"),
                    );
                }
            }
        }
    }
}
