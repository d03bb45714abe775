//! Settings of NCCL that are not in the environment: the user's file, and `/etc/nccl.conf`.

use super::bounded_files::{MAX_OTHER_BYTES, Root};
use crate::nccl::{NcclVersion, parse_nccl_conf};
use crate::preflight::expectation_document::Expectation;
use crate::rdma::{Reading, Unreadable};
use std::collections::BTreeMap;

/// Names and values.
pub(super) type Variables = BTreeMap<String, String>;

/// First version that reads `NCCL_CONF_FILE` (NVIDIA/nccl 2.23.4 src/misc/param.cc).
const READS_CONF_FILE: NcclVersion = NcclVersion(2, 23, 0);

/// The file that `NCCL_CONF_FILE` names, else `.nccl.conf` in the home directory.
pub(super) fn user_conf(
    root: &Root,
    environment: &Variables,
    home: Option<&str>,
    version: Option<NcclVersion>,
) -> Reading<Variables> {
    let named = environment.get("NCCL_CONF_FILE").filter(|file| !file.is_empty());
    let named = named.filter(|_| version.is_none_or(|version| version >= READS_CONF_FILE));
    let file = named.cloned().or_else(|| home.map(|home| format!("{home}/.nccl.conf")));
    file.map_or_else(|| Ok(Variables::new()), |file| read_conf_file(root, &file))
}

/// `/etc/nccl.conf` of the image.
pub(super) fn image_conf(root: &Root) -> Reading<Variables> {
    read_conf_file(root, "/etc/nccl.conf")
}

/// NCCL ignores a file that it cannot open.
fn read_conf_file(root: &Root, path: &str) -> Reading<Variables> {
    match root.read_at_most(path, MAX_OTHER_BYTES) {
        Ok(content) => {
            let mut variables = parse_nccl_conf::parse_variables_first_wins(&content);
            variables.retain(|name, _| may_keep_variable(name));
            Ok(variables)
        }
        Err(Unreadable::Missing | Unreadable::Denied | Unreadable::NotAFile) => Ok(Variables::new()),
        Err(why) => Err(why),
    }
}

/// A setting from the first place that has it.
pub(super) fn setting_in_force<'s>(
    name: &str,
    environment: &'s Variables,
    (user, image): (&'s Reading<Variables>, &'s Reading<Variables>),
    expected: Option<&'s Expectation>,
) -> Option<&'s str> {
    let of = |place: &'s Reading<Variables>| place.as_ref().ok()?.get(name).map(String::as_str);
    let of_profile = |expected: &'s Expectation| {
        let mut lines = expected.conf.iter().filter_map(|line| line.split_once('='));
        lines.find(|(own, _)| *own == name).map(|(_, value)| value)
    };
    let own = environment.get(name).map(String::as_str).or_else(|| of(user));
    own.or_else(|| match expected.filter(|expected| expected.write.is_some()) {
        Some(expected) => of_profile(expected),
        None => of(image),
    })
}

/// Whether a variable matters to a check. Others, and those that may hold a secret, are not kept.
pub(super) fn may_keep_variable(name: &str) -> bool {
    const PREFIXES: [&str; 6] = ["NCCL_", "FI_", "OFI_NCCL_", "IBV_", "RDMAV_", "MLX5_"];
    const SECRETS: [&str; 4] = ["KEY", "SECRET", "TOKEN", "PSK"];
    // The row of a partition key is not a secret.
    let secret = SECRETS.iter().any(|part| name.contains(part)) && name != "NCCL_IB_PKEY";
    !secret && (name == "LD_LIBRARY_PATH" || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}
