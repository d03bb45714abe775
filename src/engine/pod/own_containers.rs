//! The init containers that the webhook adds. They are never targets, and their devices are those of the containers after
//! them: the kubelet gives the devices of an ordinary init container to later containers
//! (k8s.io/kubernetes pkg/kubelet/cm/devicemanager/manager.go, `devicesToAllocate`).

use super::view::{Container, PodView};

/// Copies the program into the volume.
pub const INSTALL: &str = "fabric-install";
/// Checks the fabric.
pub const PREFLIGHT: &str = "fabric-preflight";
/// Exports the counters.
pub const MONITOR: &str = "fabric-monitor";
/// Where our containers mount their volume.
pub const RUN_PATH: &str = "/fabric-admission";
/// Where they mount the image of the program, if it comes as a volume.
pub const IMAGE_PATH: &str = "/fabric-admission-image";
/// File name of the program.
pub const PROGRAM: &str = "fabric-admission";

impl Container<'_> {
    /// Whether an init container is one of ours, by its name and by the program that it starts. A user's container of the
    /// same name starts another one.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        let starts = |words: &[&str]| self.shell_text().take(words.len()).eq(words.iter().copied());
        match self.name() {
            INSTALL => starts(&["preflight", "--install"]),
            MONITOR => starts(&["monitor"]) && self.is_sidecar(),
            PREFLIGHT => {
                let at = |path: &str| starts(&[&[path, "/", PROGRAM].concat(), "preflight"]);
                !self.is_sidecar() && (at(RUN_PATH) || at(IMAGE_PATH))
            }
            _ => false,
        }
    }
}

impl PodView<'_> {
    /// The volume in which the preflight container of the pod writes `nccl.conf`.
    #[must_use]
    pub fn preflight_volume(&self) -> Option<&str> {
        let at =
            self.spec.as_ref()?.preflight_at.get_or_init(|| {
                self.init_containers().iter().position(|c| c.name() == PREFLIGHT && c.is_ours())
            });
        self.init_containers().get((*at)?)?.mount_at(RUN_PATH)?.1.name.as_deref()
    }

    /// One of our init containers, if the pod has it.
    #[must_use]
    pub fn our_container(&self, name: &str) -> Option<&Container<'_>> {
        self.init_containers().iter().find(|c| c.name() == name && c.is_ours())
    }
}
