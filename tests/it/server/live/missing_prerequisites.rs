//! What the server needs of a cluster and does not find: the log and `/readyz` show the same sentences, which the chart's
//! notes show as well (`chart::notes_after_installation`).

use super::{site, soon};
use crate::support::server::Server;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::cluster::missing_prerequisites::{
    MISSING_CRD_MESSAGE, missing_right_message, unsupported_version_message,
};
use std::io::BufRead;
use std::sync::{Arc, Mutex};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::missing_prerequisites_are_the_same_sentence_everywhere", same);
}

fn same() -> Outcome {
    let script = site()?;
    script.refuse("FabricProfile", Some(404));
    // Other CRDs belong to operators that a cluster may not have.
    script.refuse("SriovNetwork", Some(404));
    script.refuse("Node", Some(403));
    script.refuse("SriovNetworkNodePolicy", Some(403));
    script.minor("32+");
    let kubeconfig = script.kubeconfig();
    let args = ["--kubeconfig", "kubeconfig", "--watch-retry", "0.2"];
    let (server, log) = Server::logged(&[("kubeconfig", &kubeconfig)], &args, &[])?;
    let messages = Arc::new(Mutex::new(Vec::new()));
    let reading = Arc::clone(&messages);
    std::thread::spawn(move || {
        for line in log.lines().map_while(Result::ok) {
            let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if let Some(message) = event["fields"]["message"].as_str() {
                reading.lock().unwrap().push(message.to_owned());
            }
        }
    });
    let policies = "sriovnetworknodepolicies.sriovnetwork.openshift.io";
    let expected = [
        unsupported_version_message("1.32"),
        MISSING_CRD_MESSAGE.to_owned(),
        missing_right_message("nodes"),
        missing_right_message(policies),
    ];
    // Something that is missing does not keep the server from answering.
    soon("ready", || Ok(server.admin("/readyz")?.status == 200))?;
    let mut shown = String::new();
    soon("/readyz names what is missing", || {
        shown = server.admin("/readyz")?.body;
        Ok(expected.iter().all(|sentence| shown.lines().any(|line| line == sentence)))
    })
    .map_err(|e| format!("{e}: {shown}"))?;
    assert_eq!(shown.lines().count(), 1 + expected.len(), "{shown}");
    soon("the log names what is missing", || {
        let messages = messages.lock().unwrap();
        Ok(expected.iter().all(|sentence| messages.contains(sentence)))
    })
    .map_err(|e| format!("{e}: {:?}", messages.lock().unwrap()))?;
    for kind in ["FabricProfile", "Node", "SriovNetworkNodePolicy"] {
        script.refuse(kind, None);
    }
    soon("only the version is reported", || {
        let body = server.admin("/readyz")?.body;
        Ok(body.lines().collect::<Vec<_>>() == ["ok", &expected[0]])
    })?;
    Ok(())
}
