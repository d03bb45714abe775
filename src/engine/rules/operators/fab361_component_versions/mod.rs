//! FAB361: components of a NicClusterPolicy from different releases of the operator.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "FAB361",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

/// Paths of components in the objects of both kinds. The driver has its own version.
const COMPONENTS: [&str; 12] = [
    "/spec/docaTelemetryService",
    "/spec/ibKubernetes",
    "/spec/nicConfigurationOperator/configurationDaemon",
    "/spec/nicConfigurationOperator/operator",
    "/spec/nicFeatureDiscovery",
    "/spec/nvIpam",
    "/spec/rdmaSharedDevicePlugin",
    "/spec/secondaryNetwork/cniPlugins",
    "/spec/secondaryNetwork/ipoib",
    "/spec/secondaryNetwork/multus",
    "/spec/spectrumXOperator",
    "/spec/sriovDevicePlugin",
];

/// Gets nothing of `spec.global`, which is for images of the components themselves, and is left out where it has no
/// version (Mellanox/network-operator pkg/state/state_spectrumx.go and its manifests).
const WITHOUT_GLOBAL: &str = "/spec/spectrumXOperator/xPlane";

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(object) = context.whole_object() else { return };
    let mut by_repository: BTreeMap<&str, Vec<Component<'_>>> = BTreeMap::new();
    for component in components(object) {
        by_repository.entry(component.repository).or_default().push(component);
    }
    for components in by_repository.values() {
        let mut releases: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for component in components {
            *releases.entry(component.release).or_default() += 1;
        }
        // The release of most components is the intended one; of equal counts the newest.
        let Some((meant, _)) = releases.into_iter().max_by_key(|(release, times)| (*times, *release)) else {
            continue;
        };
        let Some(like) = components.iter().find(|c| c.release == meant) else { continue };
        for other in components.iter().filter(|c| c.release != meant) {
            findings.add(
                other.at.as_str(),
                format!(
                    "{} has version {}, but {} has version {}: these two releases are not tested together",
                    other.name,
                    escaped_and_cut(other.version, 40),
                    like.name,
                    escaped_and_cut(like.version, 40)
                ),
                "Use the tags of one release for all components.",
            );
        }
    }
}

/// A component with a tag of a release.
struct Component<'a> {
    /// JSON pointer of the tag.
    at: String,
    name: &'a str,
    repository: &'a str,
    version: &'a str,
    release: (u32, u32),
}

fn components(object: &Value) -> Vec<Component<'_>> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).filter(|t| !t.is_empty());
    let own_or_global = |component: &str, key: &str| {
        let own = format!("{component}/{key}");
        let global = format!("/spec/global/{key}");
        let of_global = || text(&global).filter(|_| component != WITHOUT_GLOBAL);
        text(&own).map(|value| (own, value)).or_else(|| Some((global.clone(), of_global()?)))
    };
    let read = |component: &'static str| {
        // The operator deploys only requested components.
        object.pointer(component).filter(|c| c.is_object())?;
        let (at, version) = own_or_global(component, "version")?;
        let (_, repository) = own_or_global(component, "repository")?;
        let name = component.rsplit('/').next().unwrap_or_default();
        Some(Component { at, name, repository, version, release: operator_release_of_tag(version)? })
    };
    COMPONENTS.into_iter().chain([WITHOUT_GLOBAL]).filter_map(read).collect()
}

/// `X.Y` of `network-operator-vX.Y.Z`, with anything behind it (`-rc.1`, `-stig-fips`).
fn operator_release_of_tag(tag: &str) -> Option<(u32, u32)> {
    let mut numbers = tag.strip_prefix("network-operator-v")?.splitn(3, '.');
    let (year, month) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    numbers.next().filter(|patch| patch.starts_with(|c: char| c.is_ascii_digit()))?;
    Some((year, month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_tags() {
        for (tag, expected) in [
            ("network-operator-v25.7.0", Some((25, 7))),
            ("network-operator-v26.7.0-rc.1", Some((26, 7))),
            ("network-operator-v26.4.1-stig-fips-ubuntu", Some((26, 4))),
            ("network-operator-25.4.0", None),
            ("network-operator-v25.7", None),
            ("network-operator-v25.x.0", None),
            ("v1.5.3", None),
            ("sha256:9a83", None),
            ("latest", None),
        ] {
            assert_eq!(operator_release_of_tag(tag), expected, "{tag}");
        }
    }

    #[test]
    fn x_plane_has_its_own_version_or_none() {
        let of = |own: &str| {
            let object: Value = serde_json::from_str(&format!(
                r#"{{"spec":{{"global":{{"repository":"r","version":"network-operator-v25.10.0"}},
                    "spectrumXOperator":{{"version":"network-operator-v25.7.0","xPlane":{{"image":"y"{own}}}}}}}}}"#,
            ))
            .unwrap();
            let found = components(&object).into_iter().map(|c| format!("{} from {}", c.at, c.repository));
            found.collect::<Vec<_>>()
        };
        let operator = "/spec/spectrumXOperator/version from r";
        let version = r#","version":"network-operator-v25.10.0""#;
        assert_eq!(of(""), [operator]);
        assert_eq!(of(version), [operator]);
        let plane = "/spec/spectrumXOperator/xPlane/version from o";
        assert_eq!(of(&format!(r#"{version},"repository":"o""#)), [operator, plane]);
    }

    #[test]
    fn what_is_not_deployed_or_not_of_the_operator_does_not_count() {
        let object: Value = serde_json::from_str(
            r#"{"spec":{"global":{"repository":"r","version":"network-operator-v25.10.0"},
                "nvIpam":{"image":"a"},
                "ofedDriver":{"image":"d","version":"network-operator-v25.7.0"},
                "ibKubernetes":null,
                "secondaryNetwork":{"multus":{"image":"m","version":"v4.1.0"},
                    "cniPlugins":{"image":"p","repository":"other","version":"network-operator-v25.7.0"}}}}"#,
        )
        .unwrap();
        let found: Vec<_> = components(&object)
            .into_iter()
            .map(|c| (c.at, c.name.to_owned(), c.repository.to_owned()))
            .collect();
        assert_eq!(
            found,
            [
                ("/spec/global/version".to_owned(), "nvIpam".to_owned(), "r".to_owned()),
                (
                    "/spec/secondaryNetwork/cniPlugins/version".to_owned(),
                    "cniPlugins".to_owned(),
                    "other".to_owned()
                ),
            ]
        );
    }
}
