//! FAB359: the interface that MacvlanNetwork and IPoIBNetwork are over.

use crate::rules::cel::{Cel, Check};
use crate::rules::networks::masters::judge;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use serde_json::Value;

/// FAB359.
pub(super) struct Master;

static MASTER: Meta = Meta {
    id: "FAB359",
    severity: Severity::Error,
    summary: "MacvlanNetwork or IPoIBNetwork over no interface, or over one of the other kind",
    what: "`spec.master` of an IPoIBNetwork must be set; without it a MacvlanNetwork is over the interface of the default \
           route (a warning). A MacvlanNetwork takes an Ethernet interface, an IPoIBNetwork an InfiniBand one: an error \
           where the nodes' states tell the link layer, a warning where the name alone does (`ib…`).",
    why: "`host master interface is missing`, `failed to create macvlan: invalid argument`, `master device is (…) not of \
          type ipoib`: the pods stay in ContainerCreating. Over the management NIC RDMA is slow or absent.",
    fix: "Name the fabric's interface; IPoIBNetwork for InfiniBand, MacvlanNetwork for Ethernet.",
    bad: r#"apiVersion: mellanox.com/v1alpha1
kind: IPoIBNetwork
metadata: {name: ib-net}
spec:
  networkNamespace: default
  ipam: '{"type": "whereabouts", "range": "10.1.0.0/16"}'
"#,
    good: r#"apiVersion: mellanox.com/v1alpha1
kind: IPoIBNetwork
metadata: {name: ib-net}
spec:
  networkNamespace: default
  master: ibs1f0
  ipam: '{"type": "whereabouts", "range": "10.1.0.0/16"}'
"#,
    sources: &[
        "Mellanox/network-operator manifests/state-ipoib-network, #1017",
        "Mellanox/ipoib-cni pkg/config/config.go, pkg/ipoib/ipoib.go",
        "Mellanox/k8s-rdma-shared-dev-plugin #95",
    ],
    since: "0.1.0",
    kinds: &[("mellanox.com", "MacvlanNetwork"), ("mellanox.com", "IPoIBNetwork")],
    also: &["NVN-022", "NVN-023", "NVN-024", "NVN-025"],
    waiver: Waiver::Allowed,
};

impl Rule for Master {
    fn meta(&self) -> &'static Meta {
        &MASTER
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(object) = context.value() else { return };
        let master = object.pointer("/spec/master");
        // A value of another type is FAB809's.
        if master.is_some_and(|m| !m.is_string() && !m.is_null())
            || !object.get("spec").is_some_and(Value::is_object)
        {
            return;
        }
        let cni_type = if context.kind == "IPoIBNetwork" { "ipoib" } else { "macvlan" };
        let master = master.and_then(Value::as_str).filter(|m| !m.is_empty());
        if let Some((severity, message, fix)) = judge(context, cni_type, master) {
            findings.add_as(severity, "/spec/master", message, fix);
        }
    }
    fn cel(&self) -> Option<Cel> {
        let none = |kind: &str| {
            format!(
                "object.kind == '{kind}' && has(object.spec) && type(object.spec) == map &&\n\
                 variables.spec.?master.orValue('') == ''"
            )
        };
        let checks = vec![
            Check::error(
                none("IPoIBNetwork"),
                "ipoib has no default for its interface: without `master` every attachment fails; name the InfiniBand \
                 interface of the nodes",
            ),
            Check::warning(
                none("MacvlanNetwork"),
                "macvlan without `master` is over the interface of the default route, the management NIC; name the \
                 fabric's interface",
            ),
        ];
        Some(Cel { variables: Vec::new(), checks, beyond: Some("what kind of interface the master is") })
    }
}
