//! A certificate that cert-manager issues.

use super::{Keeper, SecretRead};
use crate::certificates::{Authority, secret_fields};
use crate::tls;
use std::path::Path;
use std::time::Instant;

impl Keeper {
    /// Serves a new certificate of cert-manager once it verifies, or if the one in use does not.
    pub(super) fn take_ca_and_serve_better_leaf_of_cert_manager(&mut self, found: SecretRead, now: i64) {
        let names = &self.settings.names;
        let place = format!("Secret {}/{}", names.namespace, names.secret);
        let object = match found {
            SecretRead::Unread => return,
            SecretRead::Absent => {
                self.fault = Some(format!(
                    "{place} does not exist; cert-manager creates it from a Certificate object"
                ));
                return;
            }
            SecretRead::Found(object) => object,
        };
        self.ca = secret_fields::ca_beside_certificate(&object);
        let certified = secret_fields::certificate_chain_and_key(&object).and_then(|(cert, key)| {
            let name = |field| format!("{place}, {field}");
            let (cert_name, key_name) = (name("tls.crt"), name("tls.key"));
            tls::parse_chain_and_key((Path::new(&cert_name), &cert), (Path::new(&key_name), &key))
                .map_err(|error| error.to_string())
        });
        let certified = match certified {
            Ok(certified) => certified,
            Err(why) => {
                let text = if why.starts_with("Secret") { why } else { format!("{place} {why}") };
                if self.fault.is_none() {
                    self.metrics.count_failed_load();
                }
                self.fault = Some(text);
                return;
            }
        };
        let same = self.served.load().is_some_and(|served| served.cert == certified.cert);
        if same {
            return;
        }
        let better =
            self.sights.iter().all(|sight| sight.why_chain_is_not_trusted(&certified.cert, now).is_none());
        let print = format!("{:?}", certified.cert);
        if !better {
            self.trusted = None;
        } else if self.trusted.as_ref().is_none_or(|(known, _)| *known != print) {
            self.trusted = Some((print, Instant::now()));
        }
        let age = |since: Instant| self.began.saturating_duration_since(since);
        let settled = self.trusted.as_ref().is_some_and(|(_, since)| age(*since) >= self.settle_time());
        let distrusted = !self.why_certificate_is_not_trusted(now).is_empty();
        if settled || distrusted {
            let until =
                certified.cert.first().and_then(|der| Authority::from_der(der)).map_or(0, |leaf| leaf.until);
            self.metrics.set_leaf_expiry(until);
            self.metrics.count_rotation("leaf", "issued");
            self.metrics.count_load_and_record_time();
            self.served.replace_certificate(certified);
            if distrusted {
                self.verified = None;
            }
            tracing::info!(until, "now serving a new certificate from cert-manager");
        } else if !better {
            self.fault = Some(format!("{place} has a new certificate that not every caBundle verifies yet"));
        }
    }
}
