//! Which rights are asked about.

use crate::cluster::kinds::WATCHED;
use crate::cluster::status_writer::LEASE;
use crate::doctor::sources::{Pick, Source, Within};
use crate::doctor::{MUTATING, Right, VALIDATING};

const WEBHOOKS: &str = "admissionregistration.k8s.io";

/// The rights of the server, as deploy/base/rbac.yaml gives them.
pub(super) fn of_server(namespace: &str, tls_mode: &str) -> Vec<Right> {
    let mut rights = Vec::new();
    for kind in WATCHED {
        for verb in ["list", "watch"] {
            rights.push(Right::new(verb, kind.group, kind.plural));
        }
    }
    rights.push(Right::new("patch", "fabric-admission.dev", "fabricprofiles/status"));
    let leases = |verb| Right::new(verb, "coordination.k8s.io", "leases").within(namespace);
    rights.extend([leases("create"), leases("get").named(LEASE), leases("update").named(LEASE)]);
    if tls_mode == "self-managed" {
        let secrets = |verb| Right::new(verb, "", "secrets").within(namespace);
        rights.push(secrets("create"));
        rights.push(Right::new("create", "events.k8s.io", "events").within(namespace));
        rights.extend(["get", "watch", "update"].map(|verb| secrets(verb).named("fabric-admission-ca")));
        for (plural, name) in
            [("mutatingwebhookconfigurations", MUTATING), ("validatingwebhookconfigurations", VALIDATING)]
        {
            rights
                .extend(["get", "watch", "patch"].map(|verb| Right::new(verb, WEBHOOKS, plural).named(name)));
        }
    }
    rights
}

/// The rights of the caller for the checks. `place`: the namespace of the dry runs; `profiles`: the ConfigMap of profiles.
pub(super) fn of_doctor(
    sources: &[&Source],
    namespace: &str,
    place: Option<&str>,
    profiles: Option<&str>,
) -> Vec<Right> {
    let mut rights = Vec::new();
    for source in sources {
        let right = Right::new(source.verb(), source.group, source.plural);
        let right = if source.within == Within::Installation { right.within(namespace) } else { right };
        match source.pick {
            Pick::Named(_) if source.plural == "configmaps" => {
                rights.extend(profiles.map(|name| right.named(name)));
            }
            Pick::Named(names) => rights.extend(names.iter().map(|name| right.clone().named(name))),
            Pick::All | Pick::Labelled(_) => rights.push(right),
        }
    }
    rights.extend(place.map(|place| Right::new("create", "", "pods").within(place)));
    rights
}

/// The rights of an installer.
pub(super) fn of_installer(namespace: &str) -> Vec<Right> {
    let of_cluster = [
        ("", "namespaces"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        (WEBHOOKS, "mutatingwebhookconfigurations"),
        (WEBHOOKS, "validatingwebhookconfigurations"),
        ("rbac.authorization.k8s.io", "clusterroles"),
        ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ];
    let of_namespace = [
        ("", "serviceaccounts"),
        ("", "services"),
        ("", "configmaps"),
        ("", "secrets"),
        ("apps", "deployments"),
        ("policy", "poddisruptionbudgets"),
        ("networking.k8s.io", "networkpolicies"),
        ("rbac.authorization.k8s.io", "roles"),
        ("rbac.authorization.k8s.io", "rolebindings"),
    ];
    let verbs = ["get", "create", "patch"];
    let each = |(group, plural): (&str, &str), namespace: &str| {
        verbs.map(|verb| Right::new(verb, group, plural).within(namespace))
    };
    let cluster = of_cluster.into_iter().flat_map(|kind| each(kind, ""));
    cluster.chain(of_namespace.into_iter().flat_map(|kind| each(kind, namespace))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Item, read};
    use serde_json::Value;
    use std::collections::BTreeSet;

    fn objects(text: &str) -> Vec<Value> {
        let documents = read("x", text.as_bytes()).into_iter().filter_map(|item| match item {
            Item::Document(document) => serde_json::from_str(document.json.get()).ok(),
            _ => None,
        });
        documents.collect()
    }

    fn words(rule: &Value, key: &str) -> Vec<String> {
        rule[key].as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_servers_rights_are_those_of_its_roles() {
        let mut given = BTreeSet::new();
        for role in objects(include_str!("../../../deploy/base/rbac.yaml")) {
            let namespace = if role["kind"] == "Role" { "ns" } else { "" };
            for rule in role["rules"].as_array().into_iter().flatten() {
                let mut names = words(rule, "resourceNames");
                if names.is_empty() {
                    names.push(String::new());
                }
                for (group, verb) in words(rule, "apiGroups")
                    .iter()
                    .flat_map(|g| words(rule, "verbs").into_iter().map(move |v| (g.clone(), v)))
                {
                    for resource in words(rule, "resources") {
                        for name in &names {
                            given.insert(
                                Right::new(&verb, &group, &resource)
                                    .within(namespace)
                                    .named(name)
                                    .to_string(),
                            );
                        }
                    }
                }
            }
        }
        let wanted: BTreeSet<String> =
            of_server("ns", "self-managed").iter().map(ToString::to_string).collect();
        assert_eq!(wanted, given);
    }

    #[test]
    fn an_installer_may_create_every_object_of_deploy() {
        let wanted: BTreeSet<String> = of_installer("ns").into_iter().map(|right| right.resource).collect();
        let files = [
            include_str!("../../../deploy/base/namespace.yaml"),
            include_str!("../../../deploy/base/rbac.yaml"),
            include_str!("../../../deploy/base/deployment.yaml"),
            include_str!("../../../deploy/base/service.yaml"),
            include_str!("../../../deploy/base/pdb.yaml"),
            include_str!("../../../deploy/base/networkpolicy.yaml"),
            include_str!("../../../deploy/base/webhooks.yaml"),
            include_str!("../../../deploy/crds/fabricprofiles.yaml"),
        ];
        for object in files.iter().flat_map(|text| objects(text)) {
            let kind = object["kind"].as_str().unwrap().to_lowercase();
            let plural =
                kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"));
            assert!(wanted.contains(&plural), "{plural}");
        }
    }
}
