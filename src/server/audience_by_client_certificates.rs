//! For whom the server's answers are, which decides what they may name (docs/adr/0021-audiences.md).

use crate::snapshot::Audience;

/// TLS admits only clients that show a certificate, once an authority of clients is given.
pub(super) fn audience(asks_for_client_certificates: bool) -> Audience {
    if asks_for_client_certificates { Audience::Tenant } else { Audience::Anyone }
}
