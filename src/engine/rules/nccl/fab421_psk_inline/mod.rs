//! FAB421: NCCL_PSK in plain text.

use super::nccl_version_and_other_networks::nccl_version_of_image_or_profile;
use crate::nccl::NcclVersion;
use crate::nccl::numbers_as_nccl_reads::has_unknown_part;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB421", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// First release that encrypts its TCP traffic. It takes the key from `ncclSetEncryption`, and no release up to it reads
/// a variable with the key; a program may.
const ENCRYPTS: NcclVersion = NcclVersion(2, 32, 0);

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        if nccl_version_of_image_or_profile(context, variables.container)
            .is_some_and(|version| version < ENCRYPTS)
        {
            continue;
        }
        for (given, value) in variables.own_settings_with_known_values() {
            if *given.name != *"NCCL_PSK" || value.is_empty() || has_unknown_part(value) {
                continue;
            }
            if findings.must_stop_reporting() {
                return;
            }
            findings.add(
                variables.pointer_of_setting(given),
                format!(
                    "NCCL_PSK{} shows the key to everyone who may read pods, and NCCL ignores the variable",
                    variables.place_in_words(given)
                ),
                "Remove NCCL_PSK, and put a new key into a Secret. Your program must pass the key to ncclSetEncryption.",
            );
        }
    }
}
