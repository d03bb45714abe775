//! FAB301: vfio-pci with isRdma: true.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck, CelCondition};
use serde::Deserialize;

pub(super) static RULE: Rule = Rule {
    id: "FAB301",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // Values of other types are refused by the CRD's schema; there is nothing to compare then.
    let Ok(policy) = crate::json::reader::read::<NodePolicy<'_>>(context.json) else { return };
    let Some(spec) = policy.spec else { return };
    if spec.device_type.as_deref() == Some("vfio-pci") && spec.is_rdma == Some(true) {
        findings.add(
            "/spec/deviceType",
            "deviceType is vfio-pci, but isRdma is true: VFs on vfio-pci have no RDMA device, so no node offers the resource",
            "Set deviceType: netdevice. For VMs or DPDK on vfio-pci, set isRdma: false.",
        );
    }
}

fn cel() -> Cel {
    let wrong = "variables.spec.?deviceType.orValue('') == 'vfio-pci' && variables.spec.?isRdma.orValue(false) == true";
    let message = "deviceType is vfio-pci, but isRdma is true: VFs on vfio-pci have no RDMA device, so no node offers the resource; set deviceType: netdevice; for VMs or DPDK on vfio-pci, set isRdma: false";
    let check = CelCheck { severity: Severity::Error, wrong: CelCondition::Object(wrong.into()), message };
    Cel { variables: Vec::new(), checks: vec![check], beyond: None }
}

#[derive(Deserialize)]
struct NodePolicy<'a> {
    #[serde(borrow, default, deserialize_with = "crate::json::types_of_decoded_fields::optional_struct")]
    spec: Option<NodePolicySpec<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodePolicySpec<'a> {
    #[serde(borrow, default)]
    device_type: Option<crate::json::types_of_decoded_fields::Text<'a>>,
    #[serde(default)]
    is_rdma: Option<bool>,
}
