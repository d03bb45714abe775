//! SriovNetworkNodePolicies in CEL. The schema checks the types of fields.

use crate::rules::rules_in_cel::{Cel, CelCheck};

/// Values of a policy, as [`SriovNodePolicy`](crate::facts::SriovNodePolicy) reads them. Only those that are used are rendered.
const POLICY_VARIABLES: [(&str, &str); 11] = [
    (
        "nics",
        "has(variables.spec.nicSelector) && type(variables.spec.nicSelector) == map ? variables.spec.nicSelector : {}",
    ),
    ("vendor", "variables.nics.?vendor.orValue('')"),
    ("deviceID", "variables.nics.?deviceID.orValue('')"),
    ("netFilter", "variables.nics.?netFilter.orValue('')"),
    (
        "byName",
        "variables.nics.?pfNames.orValue([]).exists(n, n != '') ||\nvariables.nics.?rootDevices.orValue([]).exists(n, n != '')",
    ),
    ("vdpa", "variables.spec.?vdpaType.orValue('')"),
    ("isRdma", "variables.spec.?isRdma.orValue(false) == true"),
    ("vfio", "variables.spec.?deviceType.orValue('') == 'vfio-pci'"),
    ("switchdev", "variables.spec.?eSwitchMode.orValue('') == 'switchdev'"),
    ("infiniband", "variables.spec.?linkType.orValue('').lowerAscii() in ['ib', 'infiniband']"),
    ("bridge", "variables.spec.?bridge.?ovs.hasValue()"),
];

/// A condition on a policy. The operator passes over the one of name `default`.
pub(super) fn condition_unless_named_default(wrong: &str) -> String {
    format!("object.metadata.?name.orValue('') != 'default' &&\n{wrong}")
}

/// Checks that use the values above, and report all that their rule reports.
pub(super) fn cel_with_policy_variables(checks: Vec<CelCheck>) -> Cel {
    Cel { variables: POLICY_VARIABLES.map(|(name, text)| (name, text.into())).into(), checks, beyond: None }
}
