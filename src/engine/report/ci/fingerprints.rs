//! Fingerprints in SARIF and in GitLab's report: CI systems recognize a finding by them from run to run. Baselines compare
//! findings by `report::finding_identity_for_baselines` instead.

use crate::report::ReviewedObject;
use crate::report::finding_identity_for_baselines::NamedPaths;
use crate::rules::Finding;
use std::collections::HashMap;

/// Identities of the findings of a run.
#[derive(Debug, Default)]
pub struct Fingerprints {
    seen: HashMap<u64, u32>,
}

impl Fingerprints {
    /// Rule, file, object, and path with list items by name; with a number for findings that have all these in common.
    pub(super) fn next_fingerprint(
        &mut self,
        r: &ReviewedObject,
        finding: &Finding,
        file: &str,
        paths: &NamedPaths,
    ) -> String {
        let path = paths.path_with_item_names(&finding.path);
        let template = r.template.as_deref().unwrap_or("-");
        let name = r.name.as_deref().or(r.generate_name.as_deref()).unwrap_or_default();
        let namespace = r.namespace.as_deref().unwrap_or_default();
        let hash = fnv1a(&[finding.rule, file, &r.api_version, &r.kind, namespace, name, template, &path]);
        let number = self.seen.entry(hash).or_default();
        *number += 1;
        format!("{hash:016x}:{number}")
    }
}

/// FNV-1a with 64 bits: stable for all time, which the hashes of the standard library do not promise. It keeps no secret.
fn fnv1a(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        // The test vectors of the authors: "" and "a"; each part ends with a zero byte.
        assert_eq!(fnv1a(&[]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(&[""]), 0xaf63_bd4c_8601_b7df);
    }
}
