//! Certificates that the server makes for itself, against a real API server.

mod site;

use super::plane::Plane;
use super::trial;
use crate::suite::{Outcome, Suite};
use site::{QUICK, Site, metric};
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "certificates_out_of_nothing", out_of_nothing);
}

/// No certificate, no caBundle, no Secret: a replica makes all three, and the API server believes it.
fn out_of_nothing(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    assert!(site.create().is_err_and(|e| e.contains("failed calling webhook")));
    let server = site.replica(&QUICK)?;
    site.front.set(&[&server]);
    let took = site.ready(&server)?;
    site.front.set(&[&server]);
    site.create()?;
    eprintln!("ready after {took:?}");
    let secret = site.secret()?;
    assert_eq!(secret["metadata"]["annotations"]["fabric-admission.dev/phase"], "steady", "{secret}");
    assert_eq!(secret["data"].as_object().map(|d| d.len()), Some(2), "{secret}");
    assert_eq!(metric(&server, "cabundle_in_sync")?, 2);
    assert_eq!(metric(&server, "cabundle_writes_total")?, 2);
    Ok(())
}
