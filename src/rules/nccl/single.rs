//! FAB419 to FAB421: variables of which one value alone tells that something is wrong.

use super::given::Place;
use crate::nccl::number::{is_open, is_word, leading_number};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB419.
pub(super) struct MultiNodeNvlink;

static MULTI_NODE_NVLINK: Meta = Meta {
    id: "FAB419",
    severity: Severity::Warning,
    summary: "NCCL_MNNVL_ENABLE=1 without an IMEX channel",
    what: "A container that forces NVLink between nodes (`NCCL_MNNVL_ENABLE=1`), uses no claim, is not privileged and names no \
           channel in `NVIDIA_IMEX_CHANNELS`.",
    why: "Memory is shared between nodes over an IMEX channel. Where it is forced and there is no channel, NCCL does not fall \
          back: it ends as it starts. The default, 2, looks first.",
    fix: "Give the pod a claim of a ComputeDomain, or drop the variable.",
    bad: pod!("    - {name: NCCL_MNNVL_ENABLE, value: \"1\"}\n"),
    good: pod!("    - {name: NCCL_MNNVL_ENABLE, value: \"0\"}\n"),
    sources: &[
        "NVIDIA/nccl src/mnnvl.cc, NVIDIA/nccl#1925",
        "NVIDIA/k8s-dra-driver-gpu README.md (ComputeDomain)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB27"],
    waiver: Waiver::Allowed,
};

impl Rule for MultiNodeNvlink {
    fn meta(&self) -> &'static Meta {
        &MULTI_NODE_NVLINK
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            let forced = |v: &str| !is_open(v) && !is_word(v) && leading_number(v) == 1;
            let given = spoken.said("NCCL_MNNVL_ENABLE");
            let Some(given) = given.filter(|g| g.value.as_deref().is_some_and(forced)) else { continue };
            let container = spoken.container;
            let claims = container.resources.as_ref().is_some_and(|r| r.claims.is_some());
            if claims || container.privileged() || !spoken.lacks("NVIDIA_IMEX_CHANNELS") {
                continue;
            }
            findings.add(
                spoken.path(given),
                format!(
                    "NCCL_MNNVL_ENABLE=1{}, but the container has no claim that brings an IMEX channel",
                    spoken.place(given)
                ),
                "use a ComputeDomain's claim, or drop it: the default looks whether there is a channel",
            );
        }
    }
}

/// FAB420.
pub(super) struct FixedRendezvous;

static FIXED_RENDEZVOUS: Meta = Meta {
    id: "FAB420",
    severity: Severity::Warning,
    summary: "NCCL_COMM_ID with a fixed address",
    what: "A container with `NCCL_COMM_ID` and a literal value.",
    why: "It replaces the rendezvous that frameworks exchange for every communicator by one address. Jobs that come from one \
          template then meet at the same place: they hang, or join each other's communicators; and a second communicator of the \
          same job does so with the first.",
    fix: "Drop it; frameworks hand out the id themselves.",
    bad: pod!("    - {name: NCCL_COMM_ID, value: \"10.0.0.5:29500\"}\n"),
    good: pod!("    - {name: MASTER_ADDR, value: trainer-0}\n"),
    sources: &["NVIDIA/nccl src/bootstrap.cc (bootstrapNetInit, bootstrapGetUniqueId)"],
    since: "0.1.0",
    kinds: &[],
    also: &["NB47"],
    waiver: Waiver::Allowed,
};

impl Rule for FixedRendezvous {
    fn meta(&self) -> &'static Meta {
        &FIXED_RENDEZVOUS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            let Some(given) = spoken.said("NCCL_COMM_ID") else { continue };
            let fixed = |v: &str| !v.is_empty() && !is_open(v);
            if given.value.as_deref().is_some_and(fixed) {
                findings.add(
                    spoken.path(given),
                    format!(
                        "NCCL_COMM_ID{}: every job of this template meets at one address",
                        spoken.place(given)
                    ),
                    "drop NCCL_COMM_ID",
                );
            }
        }
    }
}

/// FAB421.
pub(super) struct SecretInline;

static SECRET_INLINE: Meta = Meta {
    id: "FAB421",
    severity: Severity::Error,
    summary: "NCCL_PSK in the pod itself",
    what: "The pre-shared key by which NCCL's connections between hosts are encrypted, as a literal value in `env`. A warning \
           in the text of a command or in a ConfigMap.",
    why: "Whoever may read pods reads the key: it stands in the object, its owner, backups and audit logs. That defeats what it \
          is for.",
    fix: "Put it into a Secret and refer to it by `valueFrom.secretKeyRef`; take a new key.",
    bad: pod!("    - {name: NCCL_PSK, value: 0123456789abcdef0123456789abcdef}\n"),
    good: pod!("    - {name: NCCL_PSK, valueFrom: {secretKeyRef: {name: nccl, key: psk}}}\n"),
    sources: &["NVIDIA/nccl docs/userguide/source/env.rst (NCCL_PSK)"],
    since: "0.1.0",
    kinds: &[],
    also: &["NB49"],
    waiver: Waiver::Allowed,
};

impl Rule for SecretInline {
    fn meta(&self) -> &'static Meta {
        &SECRET_INLINE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            for (given, value) in spoken.values() {
                if *given.name != *"NCCL_PSK" || value.is_empty() || is_open(value) {
                    continue;
                }
                let severity =
                    if matches!(given.place, Place::Env(_)) { Severity::Error } else { Severity::Warning };
                findings.add_as(
                    severity,
                    spoken.path(given),
                    format!("NCCL_PSK stands here in clear{}", spoken.place(given)),
                    "refer to a Secret by valueFrom.secretKeyRef, and take a new key",
                );
            }
        }
    }
}
