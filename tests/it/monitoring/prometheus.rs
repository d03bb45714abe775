//! A real Prometheus.

use crate::support::Scratch;
use crate::support::server::admin;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};

/// A running Prometheus. It is killed when dropped.
pub(crate) struct Prometheus {
    child: Child,
    address: SocketAddr,
    _scratch: Scratch,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    /// Scrapes twice a second, where a job has no period of its own.
    pub(crate) fn start(scrape_configs: &Value) -> Result<Self, String> {
        let scratch = Scratch::new()?;
        let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
        let address = free.map_err(|e| e.to_string())?;
        let config = json!({
            "global": {"scrape_interval": "500ms", "scrape_timeout": "400ms"},
            "scrape_configs": scrape_configs,
        });
        scratch.write("prometheus.yml", config.to_string())?;
        let child = Command::new("prometheus")
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .arg(format!("--web.listen-address={address}"))
            .current_dir(scratch.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        Ok(Self { child, address, _scratch: scratch })
    }

    /// The series that a query returns.
    pub(crate) fn query(&self, query: &str) -> Result<Vec<Value>, String> {
        let text: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer: Value = admin(self.address, &format!("/api/v1/query?query={text}"))?.json()?;
        if answer["status"] != "success" {
            return Err(format!("{query}: {answer}"));
        }
        Ok(answer["data"]["result"].as_array().cloned().unwrap_or_default())
    }
}
