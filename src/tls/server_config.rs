//! TLS settings of the webhook port.

use super::certificate_files_and_served_pointer::{ServedCertificate, TlsError, crypto_provider};
use super::client_certificates::{self, ClientVerifier};
use rustls::server::{NoServerSessionStorage, ServerConfig};
use std::sync::Arc;

/// TLS settings of the webhook port: 1.3, and 1.2 where asked; HTTP/1.1 only, which is all that the API server
/// speaks to a Service.
///
/// # Errors
/// [`TlsError::Config`] when the library refuses the versions.
pub fn server_config(
    served: Arc<ServedCertificate>,
    tls12: bool,
    clients: Option<Arc<ClientVerifier>>,
) -> Result<Arc<ServerConfig>, TlsError> {
    let versions: &[&rustls::SupportedProtocolVersion] =
        if tls12 { &[&rustls::version::TLS13, &rustls::version::TLS12] } else { &[&rustls::version::TLS13] };
    let mut config = ServerConfig::builder_with_provider(crypto_provider())
        .with_protocol_versions(versions)?
        .with_client_cert_verifier(client_certificates::verifier(clients))
        .with_cert_resolver(served);
    // The API server resumes no session, and one that was resumed would not be asked for its certificate again.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
