//! Names of the providers of libibverbs.

use super::readings::Device;

/// Drivers of Linux, and the providers of their devices (linux-rdma/rdma-core `providers/`).
const DRIVERS: [(&str, &str); 12] = [
    ("mlx5_core", "mlx5"),
    ("mlx4_core", "mlx4"),
    ("efa", "efa"),
    ("bnxt_en", "bnxt_re"),
    ("bnxt_re", "bnxt_re"),
    ("ice", "irdma"),
    ("irdma", "irdma"),
    ("ionic", "ionic"),
    ("mana", "mana"),
    ("erdma", "erdma"),
    ("hns3", "hns"),
    ("cxgb4", "cxgb4"),
];

/// Starts of device names, where the driver is not visible.
const NAMES: [(&str, &str); 7] = [
    ("mlx5_", "mlx5"),
    ("mlx4_", "mlx4"),
    ("bnxt_re", "bnxt_re"),
    ("irdma", "irdma"),
    ("efa_", "efa"),
    ("rdmap", "efa"),
    ("rxe", "rxe"),
];

/// The provider of a device; `None` where it is not known.
#[must_use]
pub fn provider(device: &Device) -> Option<&'static str> {
    let by_driver =
        device.driver.as_ref().ok().and_then(|driver| {
            DRIVERS.iter().find(|(known, _)| known == driver).map(|(_, provider)| *provider)
        });
    let by_name = || NAMES.iter().find(|(start, _)| device.name.starts_with(start)).map(|(_, p)| *p);
    by_driver.or_else(by_name)
}
