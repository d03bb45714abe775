//! Distance between two PCI devices, from their real paths in sysfs.

/// Distance, near to far, by the names of NCCL (NVIDIA/nccl src/graph/topo.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Distance {
    /// PIX: the same switch.
    Switch,
    /// PXB: several switches, below one root port.
    SwitchTree,
    /// PHB: the same root complex.
    RootComplex,
    /// SYS: different root complexes.
    Across,
}

impl Distance {
    /// The distance between `/sys/devices/pci0000:15/0000:15:01.0/…/0000:18:00.0` and another.
    pub(super) fn between_pci_paths(one: &str, other: &str) -> Self {
        let (one, other) = (parts(one), parts(other));
        let common = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
        let longest = one.len().max(other.len());
        match common {
            0 => Self::Across,
            // The root complex only.
            1 => Self::RootComplex,
            // A switch is an upstream port with a downstream port for each device below it.
            common if common + 2 >= longest => Self::Switch,
            _ => Self::SwitchTree,
        }
    }

    /// Whether no switch is visible above either, as in a virtual machine: at most a root port.
    pub(super) fn is_flat(one: &str, other: &str) -> bool {
        parts(one).len() <= 3 && parts(other).len() <= 3
    }

    /// NCCL's name.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Switch => "PIX",
            Self::SwitchTree => "PXB",
            Self::RootComplex => "PHB",
            Self::Across => "SYS",
        }
    }
}

/// The root complex, the bridges, and the device.
fn parts(path: &str) -> Vec<&str> {
    path.split('/').skip_while(|part| !part.starts_with("pci")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_real_paths() {
        let gpu = "/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0";
        for (nic, distance) in [
            ("/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:19:00.0", Distance::Switch),
            (
                "/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:1a:00.0/0000:1b:00.0/0000:1c:00.0",
                Distance::SwitchTree,
            ),
            ("/sys/devices/pci0000:15/0000:15:05.0/0000:1f:00.0", Distance::RootComplex),
            ("/sys/devices/pci0000:97/0000:97:01.0/0000:98:00.0", Distance::Across),
        ] {
            assert_eq!(Distance::between_pci_paths(gpu, nic), distance, "{nic}");
        }
        assert!(Distance::is_flat(
            "/sys/devices/pci0000:00/0000:00:05.0",
            "/sys/devices/pci0000:00/0000:00:06.0"
        ));
        assert!(!Distance::is_flat(gpu, gpu));
    }
}
