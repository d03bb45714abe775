//! Annotations and paths of a plan.

/// Prefix of the annotations that hold files; the file's name follows.
pub const FILE_ANNOTATION: &str = "fabric-admission.dev/file.";
/// Name of NCCL's file.
pub const NCCL_CONF: &str = "nccl.conf";
/// The annotation that holds it.
pub(super) const CONF_ANNOTATION: &str = "fabric-admission.dev/file.nccl.conf";
/// Where NCCL looks for it.
pub const NCCL_CONF_PATH: &str = "/etc/nccl.conf";
/// Directory of a profile's other files.
pub const FILES_PATH: &str = "/etc/fabric-admission";
/// Names for our volumes, in order of preference.
pub(super) const FILES_VOLUME_NAMES: [&str; 2] = ["fabric-files", "fabric-admission-files"];
/// Path of the terms in a pod.
pub const NODE_AFFINITY_TERMS_PATH: &str =
    "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
/// Where processes expect POSIX shared memory.
pub const SHM_PATH: &str = "/dev/shm";
/// Annotation by which a pod asks for a named part of its profile's rails.
pub const RAILS_ANNOTATION: &str = "fabric-admission.dev/rails";
/// Annotation by which a pod names the containers that the profile is for.
pub const CONTAINERS_ANNOTATION: &str = "fabric-admission.dev/containers";
/// Annotation by which a pod limits or extends injection: `"false"` stops the plan, not the rules; `"full"` adds the
/// profile's networks and units beside whatever fabric the pod has.
pub const INJECT_ANNOTATION: &str = "fabric-admission.dev/inject";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_annotation_of_nccl_conf_is_one_of_a_file() {
        assert_eq!(CONF_ANNOTATION, format!("{FILE_ANNOTATION}{NCCL_CONF}"));
    }
}
