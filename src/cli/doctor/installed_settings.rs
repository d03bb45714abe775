//! The settings of the installed server: the variables of its Deployment, and its files of profiles.

use crate::cli::input::OPERATOR_NAMESPACES;
use crate::cluster::reads_for_installation_check;
use crate::doctor::what_is_read::{CONFIG_MAPS, DEPLOYMENTS, PROFILES};
use crate::doctor::{Facts, NAME};
use crate::facts::PodSecurity;
use crate::manifest::{self, DocumentOrError};
use crate::profile::Ignorable;
use crate::snapshot::{self, Ambiguity, Builder, Layer};
use kube::Client;
use serde_json::Value;
use std::collections::BTreeMap;

/// The variables of the server's container; empty where no Deployment is known.
pub(super) struct InstalledSettings {
    known: bool,
    variables: BTreeMap<String, String>,
    account: Option<String>,
    profiles: Option<String>,
}

fn items<'a>(value: Option<&'a Value>, key: &str) -> impl Iterator<Item = &'a Value> {
    value.and_then(|value| value.get(key)?.as_array()).into_iter().flatten()
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

/// Whether a flag's variable sets it, as clap decides it (`FalseyValueParser`).
fn is_on(value: &str) -> bool {
    !["", "n", "no", "f", "false", "off", "0"].contains(&value.to_lowercase().as_str())
}

impl InstalledSettings {
    pub(super) fn of(facts: &Facts) -> Self {
        Self::of_deployment(facts.objects.get(DEPLOYMENTS.plural).and_then(|all| all.first()))
    }

    pub(super) fn of_deployment(deployment: Option<&Value>) -> Self {
        let spec = deployment.and_then(|deployment| deployment.pointer("/spec/template/spec"));
        let containers = items(spec, "containers").filter(|c| text(c, "/name").as_deref() == Some(NAME));
        let variables = containers
            .flat_map(|container| items(Some(container), "env"))
            .filter_map(|variable| Some((text(variable, "/name")?, text(variable, "/value")?)))
            .collect();
        let volume = items(spec, "volumes").find(|v| text(v, "/name").as_deref() == Some("profiles"));
        Self {
            known: spec.is_some(),
            variables,
            account: spec.and_then(|spec| text(spec, "/serviceAccountName")),
            profiles: volume.and_then(|volume| text(volume, "/configMap/name")),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(&format!("FABRIC_ADMISSION_{name}")).map(String::as_str)
    }

    /// The service account, as `namespace:name`.
    pub(super) fn service_account(&self, namespace: &str) -> String {
        format!("{namespace}:{}", self.account.as_deref().unwrap_or(NAME))
    }

    /// `--tls-mode`.
    pub(super) fn tls_mode(&self) -> &str {
        // The default of `serve` is not that of deploy/base, which sets the variable.
        self.variable("TLS_MODE").unwrap_or(if self.known { "files" } else { "self-managed" })
    }

    /// Whether the server watches the cluster: otherwise its facts are files, and it writes no status.
    pub(super) fn watches_cluster(&self) -> bool {
        let given = |name| self.variable(name).is_some_and(|value| !value.is_empty());
        given("KUBECONFIG") || !given("CLUSTER")
    }

    /// Whether the server writes the status of profiles.
    pub(super) fn writes_status(&self) -> bool {
        // As above: `serve` has another default than deploy/base.
        self.watches_cluster() && self.variable("PROFILE_STATUS").map_or(!self.known, |value| value == "true")
    }

    /// The Secret with the certificate or the CA.
    pub(super) fn certificate_secret_name(&self) -> &str {
        let usual =
            if self.tls_mode() == "self-managed" { "fabric-admission-ca" } else { "fabric-admission-tls" };
        self.variable("TLS_SECRET").unwrap_or(usual)
    }

    /// The ConfigMap with profiles.
    pub(super) fn config_map_of_profiles(&self) -> Option<&str> {
        self.profiles.as_deref()
    }

    /// Whether the server may change pods.
    pub(super) fn changes_pods(&self) -> bool {
        self.variable("MUTATE") != Some("off")
    }

    /// The settings of decisions, as far as checks use them.
    pub(super) fn settings_of_decisions(&self) -> snapshot::Settings {
        let operators: Vec<&str> = match self.variable("OPERATOR_NAMESPACES") {
            Some(list) => list.split(',').collect(),
            None => OPERATOR_NAMESPACES.to_vec(),
        };
        snapshot::Settings {
            default_profile: self.variable("DEFAULT_PROFILE").map(str::to_owned),
            pod_security_default: self
                .variable("POD_SECURITY_DEFAULT")
                .map(PodSecurity::parse)
                .unwrap_or_default(),
            ambiguity: match self.variable("AMBIGUOUS") {
                Some("pin") => Ambiguity::Pin,
                Some("warn") => Ambiguity::Warn,
                _ => Ambiguity::Deny,
            },
            namespace_isolation: self.variable("NAMESPACE_ISOLATION").is_some_and(is_on),
            ignorable: match self.variable("IGNORABLE") {
                Some("errors") => Ignorable::Errors,
                _ => Ignorable::Warnings,
            },
            operator_namespaces: Some(operators.into_iter().map(str::to_owned).collect()),
            ..snapshot::Settings::default()
        }
    }
}

/// Adds the profiles of the server's files. They count before objects of the same name, as in the server.
pub(super) async fn add_profiles_of_config_map(
    client: &Client,
    settings: &InstalledSettings,
    builder: &mut Builder,
    facts: &mut Facts,
) {
    let Some(name) = settings.config_map_of_profiles() else {
        if let Some(why) = facts.unread.get(DEPLOYMENTS.plural) {
            let why = format!("the Deployment, which names the ConfigMaps, could not be read: {why}");
            facts.unread.insert(CONFIG_MAPS.plural.to_owned(), why);
        }
        return;
    };
    let path = format!("{}/{name}", CONFIG_MAPS.path(&facts.namespace));
    let map = match reads_for_installation_check::read_object_if_it_exists(client, &path).await {
        Ok(map) => map.unwrap_or_default(),
        Err(why) => {
            facts.unread.insert(CONFIG_MAPS.plural.to_owned(), why);
            return;
        }
    };
    let mut found = Vec::new();
    for (file, content) in map.pointer("/data").and_then(Value::as_object).into_iter().flatten() {
        for item in manifest::read_documents_of_file(file, content.as_str().unwrap_or_default().as_bytes()) {
            let document = match item {
                DocumentOrError::Document(document) => document,
                DocumentOrError::Error(error) => {
                    facts.broken_files.push(format!("ConfigMap {}/{name}: {error}", facts.namespace));
                    continue;
                }
                DocumentOrError::Empty { .. } => continue,
            };
            let json = document.json.get();
            // A profile that cannot be used is reported with all others.
            let _ = builder.add(Layer::Cluster, PROFILES.group, "FabricProfile", json, "");
            found.extend(serde_json::from_str::<Value>(json).ok());
        }
    }
    if let Some(objects) = facts.objects.get_mut(PROFILES.plural) {
        let name = |object: &Value| text(object, "/metadata/name");
        objects.retain(|object| !found.iter().any(|file| name(file) == name(object)));
        objects.extend(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn decisions_have_the_settings_of_the_deployment() {
        let of = |variables: &[(&str, &str)]| {
            let env: Vec<Value> = variables
                .iter()
                .map(|(name, value)| json!({"name": format!("FABRIC_ADMISSION_{name}"), "value": value}))
                .collect();
            let container = json!({"name": NAME, "env": env});
            let deployment = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
            InstalledSettings::of_deployment(Some(&deployment))
        };
        let usual = of(&[]).settings_of_decisions();
        assert_eq!(
            (usual.ambiguity, usual.namespace_isolation, usual.ignorable),
            (Ambiguity::Deny, false, Ignorable::Warnings)
        );
        assert_eq!(of(&[]).tls_mode(), "files");
        assert_eq!(InstalledSettings::of_deployment(None).tls_mode(), "self-managed");
        let set = of(&[("AMBIGUOUS", "pin"), ("NAMESPACE_ISOLATION", "true"), ("IGNORABLE", "errors")]);
        let set = set.settings_of_decisions();
        assert_eq!(
            (set.ambiguity, set.namespace_isolation, set.ignorable),
            (Ambiguity::Pin, true, Ignorable::Errors)
        );
    }
}
