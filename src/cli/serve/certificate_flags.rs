//! Flags of `serve` about its certificate.

use crate::certificate_keeper::Clock;
use crate::certificate_keeper::{CertificateIssuer, Settings};
use crate::certificates::Lifetimes;
use crate::cli::flag_values::DurationWithUnit;
use crate::cluster;
use crate::cluster::secret_and_webhook_configurations::CertificateObjectNames;
use crate::server::Certificate;
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Runtime;

#[derive(Debug, clap::Args)]
pub(super) struct CertificateFlags {
    /// Source of the server's TLS certificate
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_TLS_MODE", default_value_t = TlsMode::Files)]
    tls_mode: TlsMode,
    /// PEM file with the server's certificate chain, for --tls-mode files
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_TLS_CERT")]
    tls_cert: Option<PathBuf>,
    /// PEM file with the server's private key, for --tls-mode files
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// Minimum TLS version that the server accepts
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_TLS_MIN_VERSION", default_value_t = TlsVersion::V1_3)]
    tls_min_version: TlsVersion,
    /// Interval, in seconds, at which the server checks the certificate files for changes
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_TLS_POLL", default_value_t = 10.0, value_parser = crate::cli::flag_values::parse_seconds_up_to_one_hour)]
    tls_poll: f64,
    /// Namespace of the webhook's Secret and Service; default: the namespace in the file of
    /// --kubeconfig, else the namespace of the server's pod
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_TLS_NAMESPACE", value_parser = name)]
    tls_namespace: Option<String>,
    /// Name of the Secret. With --tls-mode self-managed, the Secret has the CA; default: fabric-admission-ca. With
    /// --tls-mode cert-manager, the Secret has the certificate and key; default: fabric-admission-tls
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_TLS_SECRET", value_parser = name)]
    tls_secret: Option<String>,
    /// Name of the webhook's Service, which the API server calls
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_TLS_SERVICE", default_value = "fabric-admission", value_parser = name)]
    tls_service: String,
    /// DNS domain of the cluster; the full DNS name of the webhook's Service ends with this domain
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_TLS_CLUSTER_DOMAIN", default_value = "cluster.local", value_parser = name)]
    tls_cluster_domain: String,
    /// Additional DNS name or IP address for the self-managed certificate, for API servers that call the webhook by
    /// URL; repeatable
    #[arg(long = "tls-host", value_name = "NAME", env = "FABRIC_ADMISSION_TLS_HOST", value_delimiter = ',')]
    tls_hosts: Vec<String>,
    /// Name of the MutatingWebhookConfiguration. With --tls-mode self-managed, the server writes the caBundles of this
    /// object. With --tls-mode cert-manager, the server only checks the caBundles
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_TLS_MUTATING", default_value = "pod-fabric-admission", value_parser = name)]
    tls_mutating: String,
    /// Name of the ValidatingWebhookConfiguration. With --tls-mode self-managed, the server writes the caBundles of this
    /// object. With --tls-mode cert-manager, the server only checks the caBundles
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_TLS_VALIDATING", default_value = "fabric-admission", value_parser = name)]
    tls_validating: String,
    /// Lifetime of a self-managed CA; the server creates the next CA after half of this time
    #[arg(long, value_name = "DURATION", env = "FABRIC_ADMISSION_TLS_CA_LIFE", default_value_t = DurationWithUnit(Lifetimes::DEFAULT.ca))]
    tls_ca_life: DurationWithUnit,
    /// Lifetime of a self-managed certificate; the server renews the certificate after two thirds of this time
    #[arg(long, value_name = "DURATION", env = "FABRIC_ADMISSION_TLS_LEAF_LIFE", default_value_t = DurationWithUnit(Lifetimes::DEFAULT.leaf))]
    tls_leaf_life: DurationWithUnit,
    /// Soak time: how long a new CA must be in every caBundle before the server signs certificates with this CA
    #[arg(long, value_name = "DURATION", env = "FABRIC_ADMISSION_TLS_SOAK", default_value_t = DurationWithUnit(Lifetimes::DEFAULT.soak))]
    tls_soak: DurationWithUnit,
    /// Tolerated clock skew: how far the clock of a machine may be wrong, in either direction
    #[arg(long, value_name = "DURATION", env = "FABRIC_ADMISSION_TLS_CLOCK_SKEW", default_value_t = DurationWithUnit(Lifetimes::DEFAULT.skew))]
    tls_clock_skew: DurationWithUnit,
    /// Interval at which the server checks its Secret and the caBundles, in case a watch misses a change
    #[arg(long, value_name = "DURATION", env = "FABRIC_ADMISSION_TLS_TICK", default_value_t = DurationWithUnit(Lifetimes::DEFAULT.tick))]
    tls_tick: DurationWithUnit,
    /// Settle time: API servers get this time to load correct caBundles before the server reports ready
    #[arg(long, value_name = "DURATION", env = "FABRIC_ADMISSION_TLS_SETTLE", default_value_t = DurationWithUnit(Lifetimes::DEFAULT.settle))]
    tls_settle: DurationWithUnit,
    /// File to which the server writes its CAs, for clients that do not get the CAs from the caBundle of a webhook
    /// configuration
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_TLS_CA_OUT")]
    tls_ca_out: Option<PathBuf>,
    /// For tests: file with an offset of the certificate clock, in seconds
    #[cfg(debug_assertions)]
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_TEST_CLOCK_OFFSET", hide = true)]
    tls_test_clock_offset: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TlsMode {
    /// The server issues its certificate, keeps the CA in a Secret and writes caBundles
    SelfManaged,
    /// cert-manager writes the certificate to a Secret; cainjector writes the caBundles
    CertManager,
    /// The server reads the files --tls-cert and --tls-key at start and after each change
    Files,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TlsVersion {
    #[value(name = "1.2")]
    V1_2,
    #[value(name = "1.3")]
    V1_3,
}

/// A name of a Kubernetes object: it becomes a part of a path and of a selector.
fn name(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    if !text.is_empty() && text.len() <= 253 && text.chars().all(legal) {
        Ok(text.to_owned())
    } else {
        Err("expected the name of a Kubernetes object: lower-case letters, digits, '-' and '.'".to_owned())
    }
}

impl CertificateFlags {
    /// Interval between two checks of the files.
    pub(super) fn check_interval(&self) -> Duration {
        Duration::from_secs_f64(self.tls_poll.max(0.05))
    }

    /// Whether TLS 1.2 is accepted besides 1.3.
    pub(super) fn tls12(&self) -> bool {
        self.tls_min_version == TlsVersion::V1_2
    }

    fn lifetimes(&self) -> Lifetimes {
        Lifetimes {
            ca: self.tls_ca_life.0,
            leaf: self.tls_leaf_life.0,
            soak: self.tls_soak.0,
            skew: self.tls_clock_skew.0,
            tick: self.tls_tick.0,
            settle: self.tls_settle.0,
        }
    }

    /// The source of the certificate.
    pub(super) fn check_flags_and_make_source(
        &self,
        kubeconfig: Option<&Path>,
        runtime: &Runtime,
    ) -> Result<Certificate, String> {
        let mode = match self.tls_mode {
            TlsMode::SelfManaged => CertificateIssuer::SelfManaged,
            TlsMode::CertManager => CertificateIssuer::CertManager,
            TlsMode::Files => {
                if self.tls_ca_out.is_some() {
                    let text = "--tls-ca-out needs --tls-mode self-managed or cert-manager; with --tls-mode files, the server does not know the CA";
                    return Err(text.to_owned());
                }
                let (Some(cert), Some(key)) = (self.tls_cert.clone(), self.tls_key.clone()) else {
                    return Err("--tls-mode files needs --tls-cert and --tls-key".to_owned());
                };
                let poll = self.check_interval();
                return Ok(Certificate::Files { cert, key, poll });
            }
        };
        let lives = self.lifetimes();
        lives.check()?;
        if kubeconfig.is_none() && !cluster::api_client::is_in_pod_with_service_account() {
            return Err(
                "this --tls-mode needs an API server: set --kubeconfig, or run the server in a pod with a service account".into()
            );
        }
        // A separate client and connection, so that a long list of nodes does not delay a certificate.
        let client = runtime
            .block_on(cluster::api_client::create_client(kubeconfig, None))
            .map_err(|error| error.to_string())?;
        let namespace = self.tls_namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
        let secret = self.tls_secret.clone().unwrap_or_else(|| {
            let tls = if mode == CertificateIssuer::SelfManaged {
                "fabric-admission-ca"
            } else {
                "fabric-admission-tls"
            };
            tls.to_owned()
        });
        let service = &self.tls_service;
        let mut hosts = vec![
            format!("{service}.{namespace}.svc"),
            format!("{service}.{namespace}.svc.{}", self.tls_cluster_domain),
            format!("{service}.{namespace}"),
            service.clone(),
        ];
        hosts.extend(self.tls_hosts.iter().cloned());
        let names = CertificateObjectNames {
            namespace,
            secret,
            mutating: self.tls_mutating.clone(),
            validating: self.tls_validating.clone(),
        };
        let (ca_out, identity) = (self.tls_ca_out.clone(), crate::cli::flag_values::replica_identity());
        // Whoever may set a flag of a shipped binary must not be able to make it trust other times.
        #[cfg(debug_assertions)]
        let clock = Clock { offset: self.tls_test_clock_offset.clone() };
        #[cfg(not(debug_assertions))]
        let clock = Clock { offset: None };
        Ok(Certificate::Cluster(Box::new(Settings {
            client,
            mode,
            names,
            hosts,
            lives,
            clock,
            ca_out,
            identity,
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_names() {
        for (text, expected) in
            [("90", Some(90)), ("10m", Some(600)), ("72h", Some(259_200)), ("365d", Some(31_536_000))]
        {
            assert_eq!(text.parse().ok(), expected.map(DurationWithUnit), "{text}");
        }
        for text in ["", "h", "-1s", "1.5h", "1w", "99999999999999999999s", "9999999999999999d"] {
            assert!(text.parse::<DurationWithUnit>().is_err(), "{text}");
        }
        let Lifetimes { ca, leaf, soak, skew, tick, settle } = Lifetimes::DEFAULT;
        let shown = [ca, leaf, soak, skew, tick, settle].map(|length| DurationWithUnit(length).to_string());
        assert_eq!(shown, ["365d", "72h", "10m", "10m", "10s", "2s"]);
        assert!(
            [ca, leaf, 90, 1, 0]
                .iter()
                .all(|s| DurationWithUnit(*s).to_string().parse() == Ok(DurationWithUnit(*s)))
        );
        assert!(name("fabric-admission.x").is_ok());
        for text in ["", "a/b", "a%2fb", "A", "a?b", "a b", "a,b"] {
            assert!(name(text).is_err(), "{text}");
        }
    }
}
