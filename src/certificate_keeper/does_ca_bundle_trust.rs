//! The check that an API server makes (kubernetes apiserver, pkg/util/webhook/client.go): our chain, under the caBundle,
//! for the name that it will ask for. By the verifier of the TLS library, never by comparing texts.

use crate::certificates::Authority;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::{CertificateError, Error, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;
use std::time::Duration;

/// Whether a chain verifies.
///
/// # Errors
/// Why not.
pub fn verify_chain_with_ca_bundle(
    chain: &[CertificateDer<'_>],
    bundle: &[u8],
    name: &str,
    now: i64,
) -> Result<(), String> {
    if bundle.is_empty() {
        return Err("the caBundle is empty".to_owned());
    }
    let mut roots = RootCertStore::empty();
    let mut found = 0;
    // As Go does: unreadable certificates are skipped, and the dates of roots count too (crypto/x509, isValid).
    for der in CertificateDer::pem_slice_iter(bundle).filter_map(Result::ok) {
        let Some(root) = Authority::from_der(&der) else { continue };
        found += 1;
        if root.is_valid_at(now) && root.signs {
            let _ = roots.add(der);
        }
    }
    if roots.is_empty() {
        return Err(match found {
            0 => "the caBundle contains no certificate".to_owned(),
            _ => "the caBundle has no valid CA: its certificates have expired, are not valid yet, or are not CAs".to_owned(),
        });
    }
    let wanted = ServerName::try_from(name).map_err(|_| format!("{name} is not a valid server name"))?;
    let seconds = u64::try_from(now).unwrap_or(0);
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), crate::tls::crypto_provider())
            .build()
            .map_err(|error| error.to_string())?;
    let (leaf, others) = chain.split_first().ok_or("the server has no certificate")?;
    let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
    match verifier.verify_server_cert(leaf, others, &wanted, &[], time) {
        Ok(_) => Ok(()),
        Err(error) => Err(describe(&error, name)),
    }
}

fn describe(error: &Error, name: &str) -> String {
    let Error::InvalidCertificate(error) = error else { return error.to_string() };
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "the server's certificate is not signed by a CA of the caBundle".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet; is the clock right?".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("the server's certificate is not for {name}")
        }
        other => format!("the server's certificate does not verify: {other}"),
    }
}
