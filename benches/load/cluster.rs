//! The cluster of a server under measurement: nodes, networks and profiles, one of which serves the payload.

use crate::api_server::{ApiServer, Objects};
use crate::scene;
use serde_json::json;
use std::sync::Arc;

/// How much a cluster has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) nodes: usize,
    pub(crate) networks: usize,
    pub(crate) profiles: usize,
}

impl Size {
    pub(crate) fn api_server(self) -> Arc<ApiServer> {
        let profiles = (0..self.profiles).map(|i| {
            let mut spec = json!({"base": "roce-sriov"});
            if i > 0 {
                let network = format!("default/network-{i}");
                spec["rails"] =
                    json!([{"network": network, "resource": format!("example.com/resource_{i}")}]);
            }
            json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
                "metadata": {"name": format!("site-{i}")}, "spec": spec})
        });
        let networks = (0..self.networks).map(|i| {
            let mut network = scene::network(i);
            network["spec"]["config"] =
                r#"{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"sriov"}]}"#.into();
            network
        });
        let objects = Objects::from([
            ("fabricprofiles", profiles.collect()),
            ("namespaces", vec![scene::namespace()]),
            ("network-attachment-definitions", networks.collect()),
        ]);
        ApiServer::new(self.nodes, objects)
    }
}
