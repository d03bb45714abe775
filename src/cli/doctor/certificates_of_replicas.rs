//! What each replica serves, and whether the caBundles trust it: by the verification that the server uses for itself.

use super::installed_settings::InstalledSettings;
use crate::certificate_keeper::{HandshakeFailure, served_chain, verify_chain};
use crate::certificates::{Authority, parse_fields, secret_fields};
use crate::cluster::reads_for_installation_check;
use crate::cluster::secret_and_webhook_configurations::{Webhook, WebhookConfiguration};
use crate::doctor::what_is_read::{
    ENDPOINT_SLICES, MUTATING_CONFIGURATIONS, SECRETS, VALIDATING_CONFIGURATIONS,
};
use crate::doctor::{Certificate, Facts, MUTATING, Replica, VALIDATING};
use kube::Client;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;

/// Time limit of a handshake. From outside the cluster usually nobody answers.
const HANDSHAKE: Duration = Duration::from_secs(3);
/// Most replicas that are asked.
const MAX_REPLICAS: usize = 16;

/// Asks the replicas, and reads the Secret.
pub(super) async fn ask_replicas_and_read_secret(
    client: &Client,
    settings: &InstalledSettings,
    facts: &mut Facts,
) {
    let webhooks = webhooks(facts);
    let asked: Vec<_> = addresses(facts)
        .into_iter()
        .map(|address| (address, tokio::spawn(async move { served_chain(&[address], HANDSHAKE).await })))
        .collect();
    for (address, asked) in asked {
        let answer = asked.await.unwrap_or_else(|error| Err(HandshakeFailure::Unasked(error.to_string())));
        let unreached = match answer {
            Ok(chain) => {
                facts.certificates.extend(certificate_and_trust_of_chain(
                    format!("replica {address}"),
                    &chain,
                    &webhooks,
                    facts.now,
                ));
                None
            }
            Err(HandshakeFailure::Closed) => {
                Some("the connection was closed during the TLS handshake".to_owned())
            }
            Err(HandshakeFailure::Deaf) => Some("the TLS handshake was not answered".to_owned()),
            Err(HandshakeFailure::Strange(what) | HandshakeFailure::Unasked(what)) => Some(what),
        };
        facts.replicas.push(Replica { address: address.to_string(), unreached });
    }
    let name = settings.certificate_secret_name();
    match reads_for_installation_check::read_object_if_it_exists(
        client,
        &format!("{}/{name}", SECRETS.path(&facts.namespace)),
    )
    .await
    {
        Err(why) => drop(facts.unread.insert(SECRETS.plural.to_owned(), why)),
        Ok(None) => {}
        Ok(Some(object)) => {
            let owner = format!("Secret {}/{name}", facts.namespace);
            let kept = certificate_or_ca_of_secret(owner, &object, &webhooks, facts.now);
            facts.certificates.extend(kept);
        }
    }
}

/// Ready endpoints.
fn addresses(facts: &Facts) -> Vec<SocketAddr> {
    let slices = facts.objects.get(ENDPOINT_SLICES.plural).into_iter().flatten();
    let list =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut found = Vec::new();
    for slice in slices {
        let port = list(slice, "ports").iter().find_map(|port| port.get("port")?.as_u64());
        let Some(port) = port.and_then(|port| u16::try_from(port).ok()) else { continue };
        for endpoint in list(slice, "endpoints") {
            if endpoint.pointer("/conditions/ready") == Some(&Value::Bool(false)) {
                continue;
            }
            let ip = list(&endpoint, "addresses").first().and_then(|address| address.as_str()?.parse().ok());
            found.extend(ip.map(|ip| SocketAddr::new(ip, port)));
        }
    }
    found.truncate(MAX_REPLICAS);
    found
}

fn webhooks(facts: &Facts) -> Vec<Webhook> {
    let of = |plural: &str, name: &str| -> Vec<Webhook> {
        let all = facts.objects.get(plural).into_iter().flatten();
        let mut named =
            all.filter(|object| object.pointer("/metadata/name").is_some_and(|found| found == name));
        named.next().map(|object| WebhookConfiguration::of(object).webhooks).unwrap_or_default()
    };
    let mut all = of(MUTATING_CONFIGURATIONS.plural, MUTATING);
    all.extend(of(VALIDATING_CONFIGURATIONS.plural, VALIDATING));
    all
}

fn certificate_and_trust_of_chain(
    owner: String,
    chain: &[CertificateDer<'_>],
    webhooks: &[Webhook],
    now: i64,
) -> Option<Certificate> {
    let known = parse_fields(chain.first()?)?;
    let trust = webhooks.iter().map(|webhook| {
        (webhook.name.clone(), verify_chain(chain, &webhook.bundle, &webhook.host, now).err())
    });
    Some(Certificate { owner, from: known.from, until: known.until, trust: trust.collect() })
}

/// The certificate of a Secret; or its CA, which must be in every caBundle.
fn certificate_or_ca_of_secret(
    owner: String,
    object: &Value,
    webhooks: &[Webhook],
    now: i64,
) -> Option<Certificate> {
    if let Ok((pem, _key)) = secret_fields::certificate_chain_and_key(object) {
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect();
        return certificate_and_trust_of_chain(owner, &chain, webhooks, now);
    }
    let authorities = secret_fields::certificates_in_current_field(object);
    let ca = authorities.first()?;
    let trust = webhooks.iter().map(|webhook| {
        let known = Authority::read_all(&webhook.bundle).unwrap_or_default();
        let lacks = !known.iter().any(|found| found.pem == ca.pem);
        (webhook.name.clone(), lacks.then(|| "the caBundle does not contain the CA of the Secret".to_owned()))
    });
    Some(Certificate { owner, from: ca.from, until: ca.until, trust: trust.collect() })
}
