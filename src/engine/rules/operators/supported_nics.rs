//! NICs that the SR-IOV operator configures: identifiers of the physical function and of its functions.

/// One model (k8snetworkplumbingwg/sriov-network-operator
/// deployment/sriov-network-operator-chart/templates/configmap.yaml, `supported-nic-ids`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Model {
    /// PCI vendor.
    pub(super) vendor: &'static str,
    /// PCI device of the physical function, which policies name.
    pub(super) physical: &'static str,
    /// PCI device of its VFs, which `lspci` shows next to it.
    pub(super) function: &'static str,
    /// Name.
    pub(super) name: &'static str,
}

const fn model(
    vendor: &'static str,
    physical: &'static str,
    function: &'static str,
    name: &'static str,
) -> Model {
    Model { vendor, physical, function, name }
}

/// Version of the operator that has these.
pub(super) const OPERATOR_VERSION: &str = "1.6";

pub(super) static MODELS: &[Model] = &[
    model("15b3", "1013", "1014", "ConnectX-4"),
    model("15b3", "1015", "1016", "ConnectX-4 Lx"),
    model("15b3", "1017", "1018", "ConnectX-5"),
    model("15b3", "1019", "101a", "ConnectX-5 Ex"),
    model("15b3", "101b", "101c", "ConnectX-6"),
    model("15b3", "101d", "101e", "ConnectX-6 Dx"),
    model("15b3", "101f", "101e", "ConnectX-6 Lx"),
    model("15b3", "1021", "101e", "ConnectX-7"),
    model("15b3", "1023", "101e", "ConnectX-8"),
    model("15b3", "1025", "101e", "ConnectX-9"),
    model("15b3", "a2d6", "101e", "BlueField-2"),
    model("15b3", "a2dc", "101e", "BlueField-3"),
    model("8086", "1572", "154c", "X710"),
    model("8086", "1581", "154c", "X710"),
    model("8086", "1589", "154c", "X710"),
    model("8086", "15ff", "154c", "X710"),
    model("8086", "1583", "154c", "XL710"),
    model("8086", "158a", "154c", "XXV710"),
    model("8086", "158b", "154c", "XXV710"),
    model("8086", "0d58", "154c", "XXV710"),
    model("8086", "1563", "1565", "X550"),
    model("8086", "10c9", "10ca", "82576"),
    model("8086", "1591", "1889", "E810"),
    model("8086", "1592", "1889", "E810"),
    model("8086", "1593", "1889", "E810"),
    model("8086", "1599", "1889", "E810"),
    model("8086", "159b", "1889", "E810"),
    model("8086", "188a", "1889", "E823"),
    model("8086", "124c", "1889", "E823"),
    model("8086", "124d", "1889", "E823"),
    model("8086", "579c", "1889", "E825"),
    model("8086", "579d", "1889", "E825"),
    model("8086", "579e", "1889", "E825"),
    model("8086", "12d2", "1889", "E830"),
    model("8086", "12d3", "1889", "E830"),
    model("8086", "1249", "1889", "E835"),
    model("8086", "124a", "1889", "E835"),
    model("14e4", "16d7", "16dc", "BCM57414"),
    model("14e4", "1750", "1806", "BCM75508"),
    model("1077", "1654", "1664", "QL45000"),
    model("1af4", "1000", "1000", "virtio"),
    model("1af4", "1041", "1041", "virtio"),
    model("177d", "b200", "b203", "OCTEON TX2"),
    model("177d", "b100", "b103", "OCTEON TX2"),
    model("177d", "b600", "b603", "OCTEON Fusion"),
    model("177d", "b900", "b903", "OCTEON 10"),
    model("177d", "ba00", "ba03", "OCTEON Fusion"),
    model("1d0f", "ec20", "ec20", "ENA"),
];

/// Models of a vendor; of all where none is named.
pub(super) fn models_of_vendor(vendor: Option<&str>) -> impl Iterator<Item = &'static Model> {
    MODELS.iter().filter(move |m| vendor.is_none_or(|v| v == m.vendor))
}

/// `VENDOR/ID` of the physical functions of some models, and `/ID` for where no vendor is named. Of models with one
/// identifier the first counts.
pub(super) fn ids_of_physical_functions(counts: impl Fn(&Model) -> bool) -> Vec<String> {
    ids_by_model_field(|m| m.physical, counts)
}

/// The same by another identifier.
pub(super) fn ids_by_model_field(
    id: impl Fn(&Model) -> &'static str,
    counts: impl Fn(&Model) -> bool,
) -> Vec<String> {
    let mut keys = Vec::new();
    for model in MODELS.iter().filter(|m| counts(m)) {
        for key in [format!("{}/{}", model.vendor, id(model)), format!("/{}", id(model))] {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys
}
