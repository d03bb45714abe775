//! `certs`: certificates for development. Installations use the self-managed mode, cert-manager or files.

use super::Exit;
use crate::cli::create_output_file::{create_output_file, create_private_output_file};
use crate::cli::lines_on_stderr::write_error;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use time::{Duration, OffsetDateTime};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a CA and a server certificate for development (files ca.crt, tls.crt and tls.key)
    Dev {
        /// Output directory
        #[arg(long, value_name = "DIR", default_value = "certs/dev")]
        out: PathBuf,
        /// DNS name or IP address in the server certificate; repeatable
        #[arg(long = "host", value_name = "NAME", default_values = ["localhost", "127.0.0.1", "fabric-admission.fabric-admission.svc"])]
        hosts: Vec<String>,
    },
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let Command::Dev { out: directory, hosts } = &arguments.command;
    let made = match make(hosts) {
        Ok(made) => made,
        Err(error) => {
            write_error(err, format_args!("cannot create the certificate: {error}"))?;
            return Ok(Exit::Usage);
        }
    };
    if let Err(error) = store(directory, &made) {
        write_error(err, format_args!("cannot write to {}: {error}", directory.display()))?;
        return Ok(Exit::Usage);
    }
    writeln!(out, "{}: created ca.crt, tls.crt and tls.key for {}", directory.display(), hosts.join(", "))?;
    Ok(Exit::Clean)
}

struct Made {
    ca: String,
    chain: String,
    key: String,
}

/// A CA whose key is dropped at once, and a leaf (ECDSA P-256) signed by it.
fn make(hosts: &[String]) -> Result<Made, rcgen::Error> {
    // From yesterday, for clocks that are behind, to three months from now.
    let now = OffsetDateTime::now_utc();
    let lifetime = (now - Duration::days(1), now + Duration::days(90));
    let ca_key = KeyPair::generate()?;
    let mut ca = CertificateParams::new(Vec::new())?;
    ca.distinguished_name.push(DnType::CommonName, "fabric-admission development CA");
    (ca.not_before, ca.not_after) = lifetime;
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let ca_certificate = ca.self_signed(&ca_key)?;
    let issuer = Issuer::new(ca, ca_key);
    let key = KeyPair::generate()?;
    let mut leaf = CertificateParams::new(hosts.to_vec())?;
    leaf.distinguished_name.push(DnType::CommonName, "fabric-admission");
    (leaf.not_before, leaf.not_after) = lifetime;
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = leaf.signed_by(&key, &issuer)?;
    Ok(Made { ca: ca_certificate.pem(), chain: certificate.pem(), key: key.serialize_pem() })
}

fn store(directory: &Path, made: &Made) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    create_output_file(&directory.join("ca.crt"))?.write_all(made.ca.as_bytes())?;
    create_output_file(&directory.join("tls.crt"))?.write_all(made.chain.as_bytes())?;
    create_private_output_file(&directory.join("tls.key"))?.write_all(made.key.as_bytes())
}
