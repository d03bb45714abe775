//! FAB113: the interface of the node that a shared network is over.

use super::network::fact;
use crate::multus::LinkLayer;
use crate::rules::definition::Plugin;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use crate::text::printable;
use serde_json::Value;

/// FAB113.
pub(super) struct Masters;

static MASTERS: Meta = Meta {
    id: "FAB113",
    severity: Severity::Error,
    summary: "macvlan, ipvlan or ipoib over no interface, or over one of the other kind",
    what: "Looks at `master` of `macvlan`, `ipvlan` and `ipoib`. ipoib needs one. macvlan and ipvlan take an Ethernet \
           interface, ipoib an InfiniBand one: an error where the nodes' states tell the link layer, a warning where the \
           name alone does (`ib…`). Further warnings: macvlan and ipvlan without `master`, which take the interface of \
           the default route, and an `mtu` above that of the interface. An error: `dhcp` with ipoib or ib-sriov.",
    why: "`failed to create macvlan: invalid argument`, `master device is (…) not of type ipoib`, `host master interface \
          is missing`, `ipam type dhcp is not supported`: the pods stay in ContainerCreating. Over the management NIC \
          RDMA is slow or absent.",
    fix: "Name the fabric's interface; use ipoib or ib-sriov over InfiniBand, macvlan or sriov over Ethernet.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: ib-net
spec:
  config: '{"type": "ipoib", "ipam": {"type": "whereabouts", "range": "10.1.0.0/16"}}'
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: ib-net
spec:
  config: '{"type": "ipoib", "master": "ibs1f0", "ipam": {"type": "whereabouts", "range": "10.1.0.0/16"}}'
"#,
    sources: &[
        "Mellanox/ipoib-cni pkg/config/config.go, pkg/ipoib/ipoib.go",
        "Mellanox/network-operator #1017, Mellanox/k8s-rdma-shared-dev-plugin #95",
        "containernetworking/plugins plugins/main/macvlan/macvlan.go",
        "k8snetworkplumbingwg/ib-sriov-cni cmd/ib-sriov-cni/main.go",
    ],
    since: "0.1.0",
    kinds: &[("k8s.cni.cncf.io", "NetworkAttachmentDefinition")],
    also: &["NAD-010", "NAD-011", "NAD-012", "NAD-013"],
    waiver: Waiver::Allowed,
};

impl Rule for Masters {
    fn meta(&self) -> &'static Meta {
        &MASTERS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(definition) = context.definition() else { return };
        let Some(plugin) = definition.primary() else { return };
        let shared = matches!(plugin.cni_type, "macvlan" | "ipvlan" | "ipoib");
        let in_container = plugin.object.get("linkInContainer").and_then(Value::as_bool) == Some(true);
        if shared && !in_container {
            let has = fact(context).is_some_and(|f| f.class.interface.is_some());
            let judged = judge(context, plugin.cni_type, plugin.text("master").filter(|_| has));
            if let Some((severity, message, fix)) = judged {
                definition.tell(findings, severity, &format!("{}/master", plugin.pointer), message, fix);
            }
            if let Some((message, fix)) = mtu(context, &plugin) {
                definition.tell(
                    findings,
                    Severity::Warning,
                    &format!("{}/mtu", plugin.pointer),
                    message,
                    fix,
                );
            }
        }
        let dhcp = plugin.ipam().and_then(|i| i.get("type")).and_then(Value::as_str) == Some("dhcp");
        if dhcp && matches!(plugin.cni_type, "ipoib" | "ib-sriov") {
            definition.tell(
                findings,
                Severity::Error,
                &format!("{}/ipam/type", plugin.pointer),
                format!("{} does not take dhcp for its addresses", plugin.cni_type),
                "use nv-ipam or whereabouts",
            );
        }
    }
}

/// What is wrong with the interface of a shared network, and what to do.
pub(in crate::rules) fn judge(
    context: &ObjectContext<'_>,
    cni_type: &str,
    master: Option<&str>,
) -> Option<(Severity, String, &'static str)> {
    let needs_ib = cni_type == "ipoib";
    let Some(master) = master else {
        return Some(if needs_ib {
            let message =
                "ipoib has no default for its interface: without `master` every attachment fails".to_owned();
            (Severity::Error, message, "name the InfiniBand interface of the nodes")
        } else {
            let message = format!(
                "{cni_type} without `master` is over the interface of the default route, the management NIC"
            );
            (Severity::Warning, message, "name the fabric's interface")
        });
    };
    let shown = printable(master, 40);
    let facts = context.snapshot.facts();
    let certain = if context.snapshot.states_cover_nodes() { Severity::Error } else { Severity::Warning };
    match (needs_ib, facts.interface(master)) {
        (false, Some(LinkLayer::InfiniBand)) => Some((
            certain,
            format!(
                "{cni_type} over {shown}, which the nodes' SriovNetworkNodeStates call InfiniBand, cannot be made"
            ),
            "use ipoib, or ib-sriov, over InfiniBand",
        )),
        (true, Some(LinkLayer::Ethernet)) => Some((
            certain,
            format!(
                "ipoib over {shown}, which the nodes' SriovNetworkNodeStates call Ethernet, cannot be made"
            ),
            "use macvlan, or sriov, over Ethernet",
        )),
        (false, None) if LinkLayer::of_interface(master) == Some(LinkLayer::InfiniBand) => Some((
            Severity::Warning,
            format!(
                "{cni_type} over {shown}: interfaces of this name are InfiniBand, on which it cannot be made"
            ),
            "use ipoib, or ib-sriov, over InfiniBand",
        )),
        _ => None,
    }
}

/// An MTU above that of the interface on every node that is known to have it.
fn mtu(context: &ObjectContext<'_>, plugin: &Plugin<'_>) -> Option<(String, &'static str)> {
    let wanted = plugin.object.get("mtu").and_then(Value::as_u64)?;
    let master = plugin.text("master")?;
    let largest = context.snapshot.facts().largest_mtu(master)?;
    (wanted > u64::from(largest)).then(|| {
        let message = format!(
            "mtu {wanted} is above that of {}, {largest} at most by the nodes' SriovNetworkNodeStates",
            printable(master, 40)
        );
        (message, "raise the interface's MTU first, or lower this one")
    })
}
