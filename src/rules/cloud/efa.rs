//! FAB601 to FAB603: AWS EFA, whose NCCL plugin takes the place of NCCL's own transport.

use crate::plan::Edit;
use crate::plan::overlay::Variable;
use crate::pod::view::Container;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver, names_rdma};
use crate::text::{printable, token};

/// Resource of the EFA device plugin.
pub(super) const EFA: &str = "vpc.amazonaws.com/efa";

macro_rules! efa_pod {
    ($metadata:literal, $limits:literal, $container:literal) => {
        concat!(
            "apiVersion: v1
kind: Pod
metadata:
  name: trainer
",
            $metadata,
            "spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, vpc.amazonaws.com/efa: 1",
            $limits,
            "}}
",
            $container
        )
    };
}

/// App containers that hold EFA devices.
fn holders<'a>(context: &PodContext<'a>) -> impl Iterator<Item = (usize, &'a Container<'a>)> {
    let overlay = context.overlay;
    let containers = context.pod().containers().iter().enumerate();
    containers.filter(move |(index, container)| overlay.units(*index, container, EFA) > 0)
}

/// Where a variable stands: its own entry, or the container where the plan or a file sets it.
pub(super) fn variable_path(index: usize, container: &Container<'_>, name: &str) -> String {
    match container.env_var(name) {
        Some((at, _)) => format!("/spec/containers/{index}/env/{at}"),
        None => format!("/spec/containers/{index}"),
    }
}

/// Literal value of a variable.
pub(super) fn value<'a>(
    context: &PodContext<'a>,
    index: usize,
    container: &'a Container<'a>,
    name: &str,
) -> Option<&'a str> {
    match context.overlay.variable(index, container, name)? {
        Variable::Value(value) => Some(value),
        Variable::Unknown => None,
    }
}

/// FAB601.
pub(super) struct PluginKeptOut;

static PLUGIN_KEPT_OUT: Meta = Meta {
    id: "FAB601",
    severity: Severity::Error,
    summary: "NCCL is kept from the plugin that drives the fabric",
    what: "A container holds EFA devices and has `NCCL_NET=IB` or `NCCL_NET_PLUGIN=none`; or it asks for the transport of \
           a plugin (`NCCL_NET=gIB`, `FasTrak`, `GPUDirectTCPX…`, `Libfabric`) with `NCCL_NET_PLUGIN=none`. Silent \
           where the container holds another RDMA device too. `NCCL_IB_…` variables beside EFA are information.",
    why: "EFA, gIB and TCPX(O) exist for NCCL by their plugin alone: without it NCCL finds no device of its own transport \
          and stops (`network IB not found`, `Failed to initialize any NET plugin`) or runs over TCP. `NCCL_IB_…` \
          variables belong to NCCL's own transport and do nothing there.",
    fix: "Drop the variable; aws-ofi-nccl and Google's images choose their plugin by themselves.",
    bad: efa_pod!("", "", "    env: [{name: NCCL_NET, value: IB}]\n"),
    good: efa_pod!("", "", "    env: [{name: NCCL_DEBUG, value: WARN}]\n"),
    sources: &[
        "aws/aws-ofi-nccl README.md",
        "NVIDIA/nccl src/plugin/net.cc (NCCL_NET, NCCL_NET_PLUGIN)",
        "awslabs/awsome-distributed-ai EFA cheat sheet",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB17", "NB20"],
    waiver: Waiver::Allowed,
};

/// Names by which `NCCL_NET` asks for the transport of a plugin.
fn is_plugin(net: &str) -> bool {
    let names = ["gIB", "FasTrak", "Libfabric", "AWS Libfabric"];
    names.iter().any(|name| net.eq_ignore_ascii_case(name))
        || net.get(..13).is_some_and(|start| start.eq_ignore_ascii_case("GPUDirectTCPX"))
}

impl Rule for PluginKeptOut {
    fn meta(&self) -> &'static Meta {
        &PLUGIN_KEPT_OUT
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, container) in context.pod().containers().iter().enumerate() {
            let set = |name| value(context, index, container, name);
            let efa = context.overlay.units(index, container, EFA) > 0;
            let without = set("NCCL_NET_PLUGIN").is_some_and(|v| v.eq_ignore_ascii_case("none"));
            if !efa && !without {
                continue;
            }
            let net = set("NCCL_NET").unwrap_or_default();
            if without && is_plugin(net) {
                findings.add(
                    variable_path(index, container, "NCCL_NET_PLUGIN"),
                    format!(
                        "NCCL_NET={} is the transport of a plugin, and NCCL_NET_PLUGIN=none keeps it out",
                        printable(net, 30)
                    ),
                    "drop NCCL_NET_PLUGIN",
                );
                continue;
            }
            if !efa || context.has_rdma(index) {
                continue;
            }
            let name = if net.eq_ignore_ascii_case("IB") { "NCCL_NET" } else { "NCCL_NET_PLUGIN" };
            if name == "NCCL_NET" || without {
                // Without the plugin NCCL runs over TCP, on purpose where something else uses the devices.
                let severity = if name == "NCCL_NET" { Severity::Error } else { Severity::Warning };
                findings.add_as(
                    severity,
                    variable_path(index, container, name),
                    format!("{name} keeps NCCL from the plugin that drives EFA: the devices stay unused"),
                    format!("drop {name}"),
                );
            }
            let idle = |name: &str| name.starts_with("NCCL_IB_") && name != "NCCL_IB_DISABLE";
            let own = container.env().iter().enumerate().find_map(|(at, entry)| {
                let name = entry.name.as_deref().filter(|name| idle(name))?;
                Some((format!("/spec/containers/{index}/env/{at}"), name))
            });
            let mut planned =
                context.plan.of_container(index).iter().filter_map(|change| match &change.edit {
                    edit @ Edit::Env { name, .. } if idle(name) => Some((edit.path(), name.as_str())),
                    _ => None,
                });
            if let Some((path, name)) = own.or_else(|| planned.next()) {
                findings.add_as(
                    Severity::Info,
                    path,
                    format!("{} and others of NCCL's own transport do nothing on EFA", printable(name, 60)),
                    "drop them",
                );
            }
        }
    }
}

/// FAB602.
pub(super) struct Libfabric;

static LIBFABRIC: Meta = Meta {
    id: "FAB602",
    severity: Severity::Warning,
    summary: "libfabric settings that do not go with EFA",
    what: "A container holds EFA devices and has `FI_PROVIDER` without `efa`, or `FI_EFA_USE_HUGE_PAGE=1` and no huge \
           pages. `RDMAV_FORK_SAFE` is information.",
    why: "With another provider the plugin finds no EFA device. Huge pages that are asked for and not there make the \
          provider fall back, or fail with `Cannot allocate memory`. `RDMAV_FORK_SAFE` is of old guides: kernels since \
          5.13 need it not, and with huge pages it makes `fork` fail.",
    fix: "Set `FI_PROVIDER=efa` or nothing; ask `hugepages-2Mi` or drop `FI_EFA_USE_HUGE_PAGE`; drop `RDMAV_FORK_SAFE`.",
    bad: efa_pod!("", "", "    env: [{name: FI_PROVIDER, value: sockets}]\n"),
    good: efa_pod!("", "", "    env: [{name: FI_PROVIDER, value: efa}]\n"),
    sources: &["awslabs/awsome-distributed-ai EFA cheat sheet", "ofiwg/libfabric man/fi_efa.7.md"],
    since: "0.1.0",
    kinds: &[],
    also: &["NB18"],
    waiver: Waiver::Allowed,
};

impl Rule for Libfabric {
    fn meta(&self) -> &'static Meta {
        &LIBFABRIC
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, container) in holders(context) {
            let set = |name| value(context, index, container, name);
            if let Some(provider) = set("FI_PROVIDER").filter(|v| !v.is_empty() && !v.contains("efa")) {
                findings.add(
                    variable_path(index, container, "FI_PROVIDER"),
                    format!(
                        "FI_PROVIDER={} leaves out efa: the plugin finds no device",
                        printable(provider, 40)
                    ),
                    "set FI_PROVIDER to efa, or drop it",
                );
            }
            let pages = || container.resource_names().any(|name| name.starts_with("hugepages-"));
            if set("FI_EFA_USE_HUGE_PAGE") == Some("1") && !pages() {
                findings.add(
                    variable_path(index, container, "FI_EFA_USE_HUGE_PAGE"),
                    "FI_EFA_USE_HUGE_PAGE=1, and the container asks no huge pages",
                    "ask hugepages-2Mi: 5120Mi with memory, or drop the variable",
                );
            }
            if set("RDMAV_FORK_SAFE").is_some() {
                findings.add_as(
                    Severity::Info,
                    variable_path(index, container, "RDMAV_FORK_SAFE"),
                    "RDMAV_FORK_SAFE is of old guides: with huge pages it makes fork fail",
                    "drop it",
                );
            }
        }
    }
}

/// FAB603.
pub(super) struct OtherFabric;

static OTHER_FABRIC: Meta = Meta {
    id: "FAB603",
    severity: Severity::Warning,
    summary: "EFA together with another RDMA fabric",
    what: "The pod holds EFA devices and, beside them, RDMA resources of another device plugin, or networks that take a \
           device of one.",
    why: "Instances with EFA have no other RDMA NICs: the pod stays Pending, or its sandbox fails for want of a device. \
          EFA itself needs no network; its devices come with the resource.",
    fix: "Drop the networks and resources of the other fabric, or the EFA resource.",
    bad: efa_pod!("", ", rdma/hca_a: 1", "    securityContext: {capabilities: {add: [IPC_LOCK]}}\n"),
    good: efa_pod!("", "", "    securityContext: {capabilities: {add: [IPC_LOCK]}}\n"),
    sources: &[
        "aws/eks-charts stable/aws-efa-k8s-device-plugin",
        "Amazon EC2 User Guide, Elastic Fabric Adapter",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-018"],
    waiver: Waiver::Allowed,
};

impl Rule for OtherFabric {
    fn meta(&self) -> &'static Meta {
        &OTHER_FABRIC
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if holders(context).next().is_none() {
            return;
        }
        for (index, container) in context.pod().containers().iter().enumerate() {
            let other = |name: &&str| {
                let known = || context.snapshot.resource(name).and_then(|fact| fact.rdma);
                *name != EFA && known().unwrap_or_else(|| names_rdma(name))
            };
            let mut others = context.resource_names(index).filter(other);
            if let Some(name) = others.find(|name| context.overlay.units(index, container, name) > 0) {
                findings.add(
                    format!("/spec/containers/{index}/resources/limits/{}", token(name)),
                    format!(
                        "{} beside {EFA}: instances with EFA have no other RDMA devices",
                        printable(name, 63)
                    ),
                    "drop one of the two",
                );
            }
        }
        let taking = context.devices().networks.iter();
        for network in taking.filter(|n| n.known.is_some_and(|k| k.fact.takes_device == Some(true))) {
            findings.add(
                annotation_path(),
                format!("network {} takes a device of its own, beside {EFA}", network.told()),
                "drop the network: EFA needs none",
            );
        }
    }
}
