//! The notes after an installation name what the server needs and does not have, in the words of the server
//! (`live::missing_prerequisites_are_the_same_sentence_everywhere`).

use crate::support::helm::{Helm, chart};
use crate::support::suite::{Need, Outcome, Suite};
use fabric_admission::cluster::missing_prerequisites::{MISSING_CRD_MESSAGE, missing_right_message};

pub(super) fn add(suite: &mut Suite) {
    if suite.need(Need::Helm, "chart::notes_after_installation").is_some() {
        suite.add("chart::notes_have_the_sentences_of_the_server", notes);
    }
}

fn notes() -> Outcome {
    let mut shown = 0;
    for helm in Helm::all()? {
        let of = |set: &str| -> Result<Option<String>, String> {
            let chart = chart().to_string_lossy().into_owned();
            let done = helm.run(&["install", "x", &chart, "--dry-run=client", "--set", set])?;
            // Helm 3 asks a cluster even here, or assumes the Kubernetes of its own age.
            if done.stderr.contains("cluster unreachable") || done.stderr.contains("requires kubeVersion") {
                return Ok(None);
            }
            let (_, notes) = done.stdout.split_once("NOTES:").ok_or(format!("{done:?}"))?;
            Ok(Some(notes.to_owned()))
        };
        let (whole, without_crd, without_rights) =
            (of("crds.enabled=true")?, of("crds.enabled=false")?, of("rbac.create=false")?);
        let (Some(whole), Some(without_crd), Some(without_rights)) = (whole, without_crd, without_rights)
        else {
            continue;
        };
        shown += 1;
        assert!(
            !whole.contains(MISSING_CRD_MESSAGE) && !whole.contains(&missing_right_message("nodes")),
            "{whole}"
        );
        assert!(
            without_crd.contains(MISSING_CRD_MESSAGE)
                && !without_crd.contains(&missing_right_message("nodes")),
            "{without_crd}"
        );
        assert!(
            !without_rights.contains(MISSING_CRD_MESSAGE)
                && without_rights.contains(&missing_right_message("nodes")),
            "{without_rights}"
        );
    }
    if shown == 0 {
        let text = crate::support::read(&chart().join("templates/NOTES.txt"))?;
        assert!(
            text.contains(MISSING_CRD_MESSAGE) && text.contains(&missing_right_message("nodes")),
            "{text}"
        );
    }
    Ok(())
}
