//! TLS of the webhook port: the certificate, who may call, and the settings of handshakes. Nothing
//! here reads files or Secrets: `server` reloads files, and `certificate_keeper` issues certificates.

mod certificate;
mod client_certificates;
mod config;
mod names;

pub(crate) use certificate::certified;
pub use certificate::{Served, Store, TlsError, provider};
pub use client_certificates::{ClientSettings, Clients};
pub use config::server_config;
