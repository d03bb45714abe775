//! Creates straight to the API server, several at once, as dry runs: what comes back is what would be stored.

use super::plane::{Plane, TOKEN};
use crate::support::server::{Answer, Client};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Connections; more would only wait for each other.
const CONNECTIONS: usize = 4;

/// A pod as it would be stored or what is said against it, and warnings.
pub(crate) type Created = (Result<Value, String>, Vec<String>);

/// A connection to the API server with the rights of the plane's administrator.
pub(crate) struct Creator<'a> {
    plane: &'a Plane,
    client: Option<Client>,
}

impl<'a> Creator<'a> {
    pub(crate) fn new(plane: &'a Plane) -> Self {
        Self { plane, client: None }
    }

    /// The pod as it would be stored, or what the API server says against it.
    pub(crate) fn create(&mut self, namespace: &str, pod: &Value) -> Result<Result<Value, String>, String> {
        self.create_warned(namespace, pod).map(|(created, _)| created)
    }

    /// The same, and the warnings of the API server and of everything that it asked.
    pub(crate) fn create_warned(&mut self, namespace: &str, pod: &Value) -> Result<Created, String> {
        self.create_at(&format!("/api/v1/namespaces/{namespace}/pods"), pod)
    }

    /// The same for an object of any kind, by the path of its collection.
    pub(crate) fn create_at(&mut self, collection: &str, object: &Value) -> Result<Created, String> {
        let body = object.to_string();
        // The API server closes a connection now and then; a create that is a dry run may be asked again.
        let answer = match self.send(collection, &body) {
            Ok(answer) => answer,
            Err(_) => self.send(collection, &body)?,
        };
        let json = answer.json()?;
        let warnings = answer.head.lines().filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("warning").then(|| value.trim().to_owned())
        });
        let warnings = warnings.collect();
        match answer.status {
            201 => Ok((Ok(json), warnings)),
            _ => Ok((
                Err(format!("{} {}", answer.status, json["message"].as_str().unwrap_or(&answer.body))),
                warnings,
            )),
        }
    }

    fn send(&mut self, collection: &str, body: &str) -> Result<Answer, String> {
        let head = format!(
            "POST {collection}?dryRun=All HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut client = match self.client.take() {
            Some(client) => client,
            None => Client::connect(SocketAddr::from(([127, 0, 0, 1], self.plane.port)), &self.plane.ca())?,
        };
        // The API server gives up a request after a minute (`--request-timeout`). On a busy machine it takes more than 20 s
        // for the largest pods, and its own answer says more than ours that there was none.
        client.stream.sock.set_read_timeout(Some(Duration::from_secs(70))).map_err(|e| e.to_string())?;
        // Head and body are two writes; the second is not to wait until the first is acknowledged.
        client.stream.sock.set_nodelay(true).map_err(|e| e.to_string())?;
        let answer = client.send(head.as_bytes(), body.as_bytes())?;
        if !answer.closes() {
            self.client = Some(client);
        }
        Ok(answer)
    }
}

/// Does something for each item, on a few connections at once; the results in the order of the items.
pub(crate) fn each<T: Sync, R: Send>(
    plane: &Plane,
    items: &[T],
    work: impl Fn(&mut Creator<'_>, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let mut creator = Creator::new(plane);
            let mut mine = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { return mine };
                mine.push((at, work(&mut creator, item)));
            }
        };
        let workers: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|w| w.join().expect("a worker panicked")).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
