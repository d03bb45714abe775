//! The API server without kubectl, for what is timed or many; and our webhook without the API server.

use super::plane::{Plane, TOKEN};
use crate::support::server::{Answer, Client, patched, review};
use serde_json::Value;
use std::net::SocketAddr;

/// A connection to the API server, with every right.
pub(crate) struct Api(Client);

impl Api {
    pub(crate) fn connect(plane: &Plane) -> Result<Self, String> {
        let address = SocketAddr::from(([127, 0, 0, 1], plane.port));
        Client::connect(address, &plane.ca()).map(Self)
    }

    /// One request, with any result. A PATCH is a merge patch.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &str) -> Result<Answer, String> {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: {kind}\r\n\
             Accept: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.0.send(head.as_bytes(), body.as_bytes())
    }

    /// One request that must succeed.
    pub(crate) fn call(&mut self, method: &str, path: &str, body: &Value) -> Result<(), String> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        match self.ask(method, path, &body)? {
            answer if (200..300).contains(&answer.status) => Ok(()),
            answer => Err(format!("{method} {path}: {} {}", answer.status, answer.body)),
        }
    }
}

/// The body of a review of a pod's creation.
pub(crate) fn question(pod: &Value) -> String {
    review("u", ("", "Pod"), "CREATE", pod).to_string()
}

/// The first network that an answer gives a pod; empty where it gives none.
pub(crate) fn first_network(pod: &Value, answer: &Value) -> Result<String, String> {
    if answer["response"].get("patch").is_none_or(Value::is_null) {
        return Ok(String::new());
    }
    let pod = patched(pod, answer)?;
    let text = pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].as_str().unwrap_or_default();
    Ok(text.split('@').next().unwrap_or_default().to_owned())
}
