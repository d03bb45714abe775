//! TLS of the webhook port: the certificate, who may call, and the settings of handshakes. Nothing
//! here reads files or Secrets: `server` reloads files, and `certificate_keeper` issues certificates.

mod certificate_files_and_served_pointer;
mod certificate_names;
mod client_certificates;
mod server_config;

pub(crate) use certificate_files_and_served_pointer::parse_chain_and_key;
pub use certificate_files_and_served_pointer::{
    CertificateFiles, ServedCertificate, TlsError, crypto_provider,
};
pub use client_certificates::{ClientSettings, ClientVerifier};
pub use server_config::server_config;
