//! TLS of the webhook port: the certificate, who may call, and the settings of handshakes. Nothing
//! here reads files or Secrets: `server` reloads files, and `certificate_keeper` issues certificates.

mod certificate_names;
mod client_certificates;
mod served_certificate;
mod server_config;

pub use client_certificates::{ClientSettings, Clients};
pub(crate) use served_certificate::parse_chain_and_key;
pub use served_certificate::{Served, Store, TlsError, provider};
pub use server_config::server_config;
