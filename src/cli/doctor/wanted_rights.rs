//! Which rights are asked about.

use super::installed_settings::InstalledSettings;
use crate::cluster::watched_kinds::WATCHED;
use crate::cluster::write_profile_status::LEASE;
use crate::doctor::what_is_read::{Pick, Source, Within};
use crate::doctor::{MUTATING, Right, VALIDATING};

const WEBHOOKS: &str = "admissionregistration.k8s.io";

/// The rights that the server needs with its settings. deploy/base/rbac.yaml and the components give exactly these.
pub(super) fn rights_needed_by_server(namespace: &str, settings: &InstalledSettings) -> Vec<Right> {
    let mut rights = Vec::new();
    if settings.watches_cluster() {
        for kind in WATCHED {
            rights.extend(["list", "watch"].map(|verb| Right::new(verb, kind.group, kind.plural)));
        }
    }
    if settings.writes_status() {
        rights.push(Right::new("patch", "fabric-admission.dev", "fabricprofiles/status"));
        let leases = |verb| Right::new(verb, "coordination.k8s.io", "leases").in_namespace(namespace);
        rights.extend([
            leases("create"),
            leases("get").for_object(LEASE),
            leases("update").for_object(LEASE),
        ]);
    }
    let secrets = |verb| Right::new(verb, "", "secrets").in_namespace(namespace);
    let own = settings.tls_mode() == "self-managed";
    if own {
        rights.push(secrets("create"));
        rights.push(secrets("update").for_object(settings.certificate_secret_name()));
        rights.push(Right::new("create", "events.k8s.io", "events").in_namespace(namespace));
    }
    if own || settings.tls_mode() == "cert-manager" {
        rights.extend(
            ["get", "watch"].map(|verb| secrets(verb).for_object(settings.certificate_secret_name())),
        );
        let verbs: &[&str] = if own { &["get", "watch", "patch"] } else { &["get", "watch"] };
        for (plural, name) in
            [("mutatingwebhookconfigurations", MUTATING), ("validatingwebhookconfigurations", VALIDATING)]
        {
            rights.extend(verbs.iter().map(|verb| Right::new(verb, WEBHOOKS, plural).for_object(name)));
        }
    }
    rights
}

/// The rights of the caller for the checks. `place`: the namespace of the dry runs; `profiles`: the ConfigMap of profiles.
pub(super) fn rights_needed_by_doctor(
    sources: &[&Source],
    namespace: &str,
    place: Option<&str>,
    profiles: Option<&str>,
) -> Vec<Right> {
    let mut rights = Vec::new();
    for source in sources {
        let right = Right::new(source.verb(), source.group, source.plural);
        let right = match source.within {
            Within::Installation => right.in_namespace(namespace),
            Within::Default => right.in_namespace("default"),
            Within::Cluster | Within::AllNamespaces => right,
        };
        match source.pick {
            Pick::Named(_) if source.plural == "configmaps" => {
                rights.extend(profiles.map(|name| right.for_object(name)));
            }
            Pick::Named(names) => rights.extend(names.iter().map(|name| right.clone().for_object(name))),
            Pick::All | Pick::Labelled(_) => rights.push(right),
        }
    }
    for kind in WATCHED.iter().filter(|kind| !sources.iter().any(|source| source.plural == kind.plural)) {
        rights.push(Right::new("list", kind.group, kind.plural));
    }
    rights.extend(place.map(|place| Right::new("create", "", "pods").in_namespace(place)));
    rights
}

/// The rights of an installer.
pub(super) fn rights_needed_by_installer(namespace: &str) -> Vec<Right> {
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
        verbs.map(|verb| Right::new(verb, group, plural).in_namespace(namespace))
    };
    let cluster = of_cluster.into_iter().flat_map(|kind| each(kind, ""));
    cluster.chain(of_namespace.into_iter().flat_map(|kind| each(kind, namespace))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{DocumentOrError, read_documents_of_file};
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    fn objects(text: &str) -> Vec<Value> {
        let documents =
            read_documents_of_file("x", text.as_bytes()).into_iter().filter_map(|item| match item {
                DocumentOrError::Document(document) => serde_json::from_str(document.json.get()).ok(),
                _ => None,
            });
        documents.collect()
    }

    fn words(rule: &Value, key: &str) -> Vec<String> {
        rule[key].as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect()
    }

    /// The rights that some roles give.
    fn given(roles: &[Value]) -> BTreeSet<String> {
        let mut given = BTreeSet::new();
        for role in roles {
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
                                    .in_namespace(namespace)
                                    .for_object(name)
                                    .to_string(),
                            );
                        }
                    }
                }
            }
        }
        given
    }

    fn same_object(one: &Value, other: &Value) -> bool {
        one["kind"] == other["kind"] && one["metadata"]["name"] == other["metadata"]["name"]
    }

    /// The objects of deploy/base with the patches of a component, as far as they are about rights and variables.
    fn patched(component: &str) -> (Vec<Value>, Value) {
        let mut roles = objects(include_str!("../../../deploy/base/rbac.yaml"));
        let mut deployment = objects(include_str!("../../../deploy/base/deployment.yaml")).remove(0);
        for kustomization in objects(component) {
            for patch in kustomization["patches"].as_array().into_iter().flatten() {
                let Some(patch) = objects(patch["patch"].as_str().unwrap()).into_iter().next() else {
                    continue;
                };
                if patch["$patch"] == "delete" {
                    roles.retain(|role| !same_object(role, &patch));
                } else if same_object(&deployment, &patch) {
                    let pointer = "/spec/template/spec/containers/0/env";
                    let env = deployment.pointer_mut(pointer).unwrap().as_array_mut().unwrap();
                    for variable in patch.pointer(pointer).and_then(Value::as_array).into_iter().flatten() {
                        env.retain(|known| known["name"] != variable["name"]);
                        env.push(variable.clone());
                    }
                } else if let Some(role) = roles.iter_mut().find(|role| same_object(role, &patch)) {
                    role["rules"] = patch["rules"].clone();
                }
            }
        }
        (roles, deployment)
    }

    #[test]
    fn the_servers_rights_are_those_of_its_roles_with_each_component() {
        macro_rules! component {
            ($name:literal) => {
                ($name, include_str!(concat!("../../../deploy/components/", $name, "/kustomization.yaml")))
            };
        }
        for (name, component) in [
            ("base", ""),
            component!("cert-manager"),
            component!("cluster-facts"),
            component!("enforce-network-objects"),
            component!("ipv6"),
            component!("namespace-isolation"),
            component!("own-certificate"),
        ] {
            let (roles, deployment) = patched(component);
            let settings = InstalledSettings::of_deployment(Some(&deployment));
            let wanted: BTreeSet<String> =
                rights_needed_by_server("ns", &settings).iter().map(ToString::to_string).collect();
            assert_eq!(wanted, given(&roles), "{name}");
        }
    }

    #[test]
    fn the_servers_rights_follow_its_variables() {
        let wanted = |variables: &[(&str, &str)]| -> Vec<String> {
            let env: Vec<Value> = variables
                .iter()
                .map(|(name, value)| json!({"name": format!("FABRIC_ADMISSION_{name}"), "value": value}))
                .collect();
            let container = json!({"name": "fabric-admission", "env": env});
            let deployment = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
            let settings = InstalledSettings::of_deployment(Some(&deployment));
            rights_needed_by_server("ns", &settings).iter().map(ToString::to_string).collect()
        };
        let has = |rights: &[String], part: &str| rights.iter().any(|right| right.contains(part));
        let files = wanted(&[]);
        assert!(has(&files, "watch nodes") && !has(&files, "leases") && !has(&files, "secrets"), "{files:?}");
        let status = wanted(&[("PROFILE_STATUS", "true")]);
        assert!(has(&status, "get leases.coordination.k8s.io fabric-admission-status in ns"), "{status:?}");
        let named = wanted(&[("TLS_MODE", "cert-manager"), ("TLS_SECRET", "mine")]);
        assert!(has(&named, "get secrets mine in ns") && !has(&named, "update secrets"), "{named:?}");
    }

    #[test]
    fn an_installer_may_create_every_object_of_deploy() {
        let wanted: BTreeSet<String> =
            rights_needed_by_installer("ns").into_iter().map(|right| right.resource).collect();
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
