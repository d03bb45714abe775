//! Annotations and paths of a plan.

/// Start of the annotations that hold files; their names follow.
pub const FILE_ANNOTATION: &str = "fabric-admission.dev/file.";
/// Name of NCCL's file.
pub const NCCL_CONF: &str = "nccl.conf";
/// Where NCCL looks for it.
pub const NCCL_CONF_PATH: &str = "/etc/nccl.conf";
/// Directory of a profile's other files.
pub const FILES_PATH: &str = "/etc/fabric-admission";
/// Names a volume of ours may have; the first that is free.
pub(super) const VOLUME_NAMES: [&str; 2] = ["fabric-files", "fabric-admission-files"];
/// Where the terms stand in a pod.
pub const TERMS_PATH: &str =
    "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
/// Where processes expect POSIX shared memory.
pub const SHM_PATH: &str = "/dev/shm";
/// Annotation by which a pod asks for a named part of its profile's rails.
pub const RAILS_ANNOTATION: &str = "fabric-admission.dev/rails";
/// Annotation by which a pod names the containers that the profile is for.
pub const CONTAINERS_ANNOTATION: &str = "fabric-admission.dev/containers";
/// Annotation by which a pod says how much it wants: `"false"` stops the plan, not the rules; `"full"` adds the
/// profile's networks and units beside whatever fabric the pod has.
pub const INJECT_ANNOTATION: &str = "fabric-admission.dev/inject";
