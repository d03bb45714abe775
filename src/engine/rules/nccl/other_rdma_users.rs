//! What else than NCCL may use an RDMA device of a container. NIXL, GPUDirect Storage and NFS over RDMA are mostly set up
//! by arguments, files or another container, and seldom by a variable, so everything that a pod shows is looked at.

use crate::nccl::numbers_as_nccl_reads::leading_number;
use crate::pod::containers_and_their_resources::ContainerPlace;
use crate::pod::pod_fields::Container;
use crate::pod::shell::lines_without_comments;
use crate::rules::pod_context::PodContext;
use crate::rules::variables_of_pod::ContainerVariables;
use crate::text::escaped_and_cut;

/// Starts of variables of other libraries over verbs: UCX, NVSHMEM, libfabric, Open MPI, NIXL, Mooncake, GPUDirect Storage,
/// LMCache, Dynamo.
const VARIABLE_PREFIXES: [&str; 12] = [
    "UCX_",
    "NVSHMEM_",
    "FI_",
    "OMPI_",
    "NIXL_",
    "VLLM_NIXL_",
    "MOONCAKE_",
    "MC_",
    "CUFILE_",
    "NVIDIA_GDS",
    "LMCACHE_",
    "DYN_",
];

/// Starts of words that name such libraries and programs in commands, images and paths, by their first letter: paths may have
/// millions of words.
fn starts_of_words(first: u8) -> &'static [&'static str] {
    match first.to_ascii_lowercase() {
        b'c' => &["cufile"],
        b'd' => &["dynamo", "disagg", "deepep"],
        b'g' => &["gds"],
        b'i' => &["ibgda", "ibverbs"],
        b'l' => &["lmcache", "libfabric"],
        b'm' => &["mooncake", "mpirun", "mpiexec"],
        b'n' => &["nixl", "nvshmem", "nvme"],
        b'p' => &["perftest"],
        b'r' => &["rdma", "roce"],
        b's' => &["sshd", "spdk"],
        b'u' => &["ucx"],
        _ => &[],
    }
}

/// Whole words: options such as `--kv-transfer-config` and `--ib-device`, and programs such as `ib_write_bw`.
fn whole_words(first: u8) -> &'static [&'static str] {
    match first.to_ascii_lowercase() {
        b'i' => &["ib"],
        b'k' => &["kv"],
        b'n' => &["nfs"],
        _ => &[],
    }
}

/// Images whose NCCL plugin for SHARP has a switch of its own, NCCL_IBEXT_DISABLE (Mellanox/nccl-rdma-sharp-plugins
/// src/ib_plugin.c).
const IMAGES_WITH_PLUGIN: &str = "nvcr.io/nvidia/";

/// Most containers of a pod that are looked at (count); real pods have a few.
const MAX_CONTAINERS: usize = 64;

/// Longest path, and longer than the reference of any image (bytes; Linux' `PATH_MAX`).
const MAX_PATH: usize = 4096;

/// What else may use the device, in a few words: another library in the container, or another container.
pub(super) fn other_user_of_device_in_words(
    context: &PodContext<'_>,
    variables: &ContainerVariables<'_>,
) -> Option<String> {
    let container = variables.container;
    if let Some(library) = other_library_in_words(variables) {
        return Some(library);
    }
    let plugin_off =
        variables.value_that_counts("NCCL_IBEXT_DISABLE").is_some_and(|v| leading_number(v) != 0);
    if !plugin_off && container.image.as_deref().is_some_and(|image| image.starts_with(IMAGES_WITH_PLUGIN)) {
        return Some("the NCCL plugin in the image".to_owned());
    }
    if may_mount(container) {
        return Some("a program on a file system that the container mounts".to_owned());
    }
    // One that has a device of its own has no use for this one.
    let other = |holder: ContainerPlace| match holder {
        ContainerPlace::App(index) => index != variables.index && !context.has_verbs_device(index),
        ContainerPlace::Sidecar(_) => true,
        ContainerPlace::Init(_) => false,
    };
    if context.pod().containers().len() > MAX_CONTAINERS {
        return Some("one of many containers".to_owned());
    }
    if let Some((_, container)) =
        context.pod().containers_not_added_by_webhook().find(|(holder, _)| other(*holder))
    {
        return Some(format!("the other container {:?}", escaped_and_cut(container.name(), 30)));
    }
    variables.open.then(|| "a library that envFrom or a sourced file sets up".to_owned())
}

/// Another library of the container that is seen, in a few words.
pub(super) fn other_library_in_words(variables: &ContainerVariables<'_>) -> Option<String> {
    let container = variables.container;
    let given = variables.own_settings().map(|given| &*given.name);
    let mut names = container.env().iter().filter_map(|entry| entry.name.as_deref()).chain(given);
    if let Some(name) = names.find(|name| VARIABLE_PREFIXES.iter().any(|start| name.starts_with(start))) {
        return Some(format!("another library (variable {} is set)", escaped_and_cut(name, 40)));
    }
    if variables.unread {
        return Some("another library (the command, image and mounts are too long to be read)".to_owned());
    }
    let names = container.image_and_mount_paths().filter(|name| name.len() <= MAX_PATH);
    let mut texts = container.command_and_argument_words().chain(names);
    texts.find_map(word_of_other_library).map(|word| {
        format!(
            "another library ({:?} in the container's command, image or mounts)",
            escaped_and_cut(word, 30)
        )
    })
}

/// A word of a text that names another user of verbs. Names of NCCL's own variables have such words as well.
fn word_of_other_library(text: &str) -> Option<&str> {
    lines_without_comments(text).find_map(|(_, line)| word_in_line(line))
}

/// The same of a line. Words are letters and digits; `_` joins them to a name.
fn word_in_line(line: &str) -> Option<&str> {
    let starts = |text: &str, start: &str| {
        text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    let (mut before, mut is_of_nccl) = (b' ', false);
    for (at, byte) in line.bytes().enumerate() {
        let follows = std::mem::replace(&mut before, byte);
        if follows.is_ascii_alphanumeric() || !(byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let rest = line.get(at..).unwrap_or_default();
        if follows != b'_' {
            is_of_nccl = starts(rest, "NCCL_");
        }
        if is_of_nccl || starts_of_words(byte).is_empty() && whole_words(byte).is_empty() {
            continue;
        }
        let length = rest.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        if starts_of_words(byte).iter().any(|start| starts(word, start))
            || whole_words(byte).iter().any(|whole| word.eq_ignore_ascii_case(whole))
        {
            return Some(word);
        }
    }
    None
}

/// Whether a container may mount file systems itself, such as NFS over RDMA.
fn may_mount(container: &Container<'_>) -> bool {
    container.privileged() || container.adds_capability("SYS_ADMIN")
}

#[cfg(test)]
mod tests {
    use super::word_of_other_library;

    #[test]
    fn words_that_name_another_user() {
        for text in [
            r#"--kv-transfer-config={"kv_connector":"NixlConnector"}"#,
            "mount -o proto=rdma,port=20049 a:/b /c",
            "/usr/bin/gdsio -x 0",
            "ib_write_bw -d mlx5_0",
            "mpirun -np 16 all_reduce_perf",
            "--disaggregation-ib-device=mlx5_0",
            "/etc/cufile.json",
            "pip install nvidia-nvshmem-cu12",
        ] {
            assert!(word_of_other_library(text).is_some(), "{text}");
        }
        for text in [
            "torchrun --nproc-per-node=8 train.py --configs a.yaml",
            "python -m fibonacci",
            "/data/skvm",
            "",
            "export NCCL_IB_HCA=mlx5; run -x NCCL_IB_GID_INDEX=3",
            "run # with rdma",
        ] {
            assert_eq!(word_of_other_library(text), None, "{text}");
        }
    }
}
