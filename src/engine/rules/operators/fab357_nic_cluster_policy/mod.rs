//! FAB357: NicClusterPolicy or NicNodePolicy that the operator cannot apply.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB357",
    severity: Severity::Error,
    lesser: &[(
        Severity::Warning,
        "the API server accepts the object, but the object does not have the intended effect",
    )],
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(object) = context.whole_object() else { return };
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).filter(|t| !t.is_empty());
    let name = text("/metadata/name").unwrap_or_default();
    if context.kind == "NicClusterPolicy" && !name.is_empty() && name != "nic-cluster-policy" {
        findings.add_with_severity(
            Severity::Warning,
            "/metadata/name",
            format!(
                "the operator ignores NicClusterPolicy \"{}\": it reads only the object named \"nic-cluster-policy\"",
                escaped_and_cut(name, 63)
            ),
            "Set metadata.name: nic-cluster-policy.",
        );
    }
    if context.kind == "NicNodePolicy" && name.len() > 30 {
        let message =
            format!("metadata.name has {} characters: labels of the operator allow only 30", name.len());
        findings.add("/metadata/name", message, "Set metadata.name to at most 30 characters.");
    }
    if let Some(version) = text("/spec/ofedDriver/version").filter(|v| !is_driver_version(v)) {
        findings.add_with_severity(
            Severity::Warning,
            "/spec/ofedDriver/version",
            format!("version {:?} is not the version of a driver image", escaped_and_cut(version, 60)),
            "Write the tag of the driver image without the operating system, such as 24.01-0.3.3.1-0.",
        );
    }
    let policy = object.pointer("/spec/ofedDriver/upgradePolicy");
    let on = |key: &str| policy.and_then(|p| p.get(key)).and_then(Value::as_bool) == Some(true);
    if on("safeLoad") && !on("autoUpgrade") {
        findings.add(
            "/spec/ofedDriver/upgradePolicy/safeLoad",
            "safeLoad is on without autoUpgrade: nodes wait for an upgrade that never starts",
            "Set autoUpgrade: true, or remove safeLoad.",
        );
    }
    check_guid_ranges(object, findings);
}

fn check_guid_ranges(object: &Value, findings: &mut FindingsOfRule<'_>) {
    let Some(ib) = object.pointer("/spec/ibKubernetes").filter(|v| v.is_object()) else { return };
    let mut read = Vec::new();
    for key in ["pKeyGUIDPoolRangeStart", "pKeyGUIDPoolRangeEnd"] {
        let written = ib.get(key).and_then(Value::as_str).unwrap_or_default();
        match guid(written) {
            Some(number) => read.push(number),
            None => findings.add(
                format!("/spec/ibKubernetes/{key}"),
                format!(
                    "{key} {:?} is not a GUID of eight octets with colons: ib-kubernetes exits",
                    escaped_and_cut(written, 60)
                ),
                "Write a GUID such as 02:00:00:00:00:00:00:00.",
            ),
        }
    }
    // Mellanox/ib-kubernetes pkg/guid/guid_pool.go, isValidRange: a range of one GUID is valid.
    let [start, end] = read.as_slice() else { return };
    let (key, fault, fix) = if end < start {
        (
            "pKeyGUIDPoolRangeEnd",
            "ends before it starts",
            "Set pKeyGUIDPoolRangeEnd to pKeyGUIDPoolRangeStart or a higher GUID.",
        )
    } else if *start == 0 {
        (
            "pKeyGUIDPoolRangeStart",
            "starts at a GUID of all zeros",
            "Set pKeyGUIDPoolRangeStart: 02:00:00:00:00:00:00:00.",
        )
    } else if *end == u64::MAX {
        (
            "pKeyGUIDPoolRangeEnd",
            "ends at a GUID of all ones",
            "Set pKeyGUIDPoolRangeEnd: 02:FF:FF:FF:FF:FF:FF:FF.",
        )
    } else {
        return;
    };
    findings.add(
        format!("/spec/ibKubernetes/{key}"),
        format!("the GUID range {fault}: ib-kubernetes exits"),
        fix,
    );
}

fn guid(text: &str) -> Option<u64> {
    let parts: Vec<&str> = text.split(':').collect();
    let octet = |p: &&str| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit());
    (parts.len() == 8 && parts.iter().all(octet)).then(|| u64::from_str_radix(&parts.concat(), 16).ok())?
}

/// `23.10-0.2.2.0`, `24.01-0.3.3.1-0` with an optional kernel, the same behind `doca3.1-`, or a digest.
fn is_driver_version(version: &str) -> bool {
    if let Some(digest) = version.strip_prefix("sha256:") {
        return digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit());
    }
    let dotted = |text: &str| {
        !text.is_empty() && text.split('.').all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let rest = match version.strip_prefix("doca") {
        Some(rest) => match rest.split_once('-') {
            Some((doca, rest)) if dotted(doca) => rest,
            _ => return false,
        },
        None => version,
    };
    let mut parts = rest.split('-');
    let year = parts.next().is_some_and(|p| dotted(p) && p.matches('.').count() == 1);
    let tail =
        |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'));
    year && parts.next().is_some_and(dotted) && parts.all(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_drivers() {
        for good in [
            "23.10-0.2.2.0",
            "24.01-0.3.3.1-0",
            "25.01-0.6.0.0-0-6.8.0-1019-oracle-ubuntu22.04-arm64",
            "doca3.1-24.01-0.3.3.1-0",
            "doca3.5.0-26.07-0.7.0.0-0",
            "doca3.1-25.07-0.9.7.0-0-5.14.0-427.87.1.el9_4.x86_64-rhcos4.18-amd64",
            "sha256:9a831bfdf85f313b1f5749b7c9b2673bb8fff18b4ff768c9242dabaa4468e449",
        ] {
            assert!(is_driver_version(good), "{good}");
        }
        for bad in [
            "latest",
            "23.10",
            "v23.10-0.2.2.0",
            "doca-24.01-0.3.3.1-0",
            "sha256:00",
            "23.10-",
            "24.01-0.3.3.1-0-a b",
        ] {
            assert!(!is_driver_version(bad), "{bad}");
        }
    }

    #[test]
    fn guids_have_eight_octets() {
        assert_eq!(guid("02:00:00:00:00:00:00:0A"), Some(0x0200_0000_0000_000a));
        for bad in [
            "",
            "02:00:00:00:00:00:00",
            "2:00:00:00:00:00:00:00",
            "02-00-00-00-00-00-00-00",
            "0g:00:00:00:00:00:00:00",
        ] {
            assert_eq!(guid(bad), None, "{bad}");
        }
    }
}
