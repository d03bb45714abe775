//! The control plane: started once, on ports of its own, and ended with the run.

use crate::support::Scratch;
use crate::support::server::{Answer, certificate};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) const TOKEN: &str = "e2e-admin";

/// Controllers that make pods, and what pods need to be made.
const CONTROLLERS: &str = "job-controller,replicaset-controller,statefulset-controller,deployment-controller,\
    serviceaccount-controller,root-ca-certificate-publisher-controller,namespace-controller";

pub(crate) struct Plane {
    pub(crate) port: u16,
    assets: PathBuf,
    scratch: Scratch,
    etcd: u16,
    processes: Vec<Child>,
    api_server: Mutex<Option<Child>>,
    /// With which the API server is started.
    flags: Vec<String>,
    pub(crate) has_controllers: bool,
    namespaces: AtomicUsize,
}

/// What a kubectl call left.
#[derive(Debug)]
pub(crate) struct Kubectl {
    pub(crate) ok: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    listener.local_addr().map(|a| a.port()).map_err(|e| e.to_string())
}

impl Plane {
    pub(crate) fn start(assets: &Path) -> Result<Self, String> {
        let scratch = Scratch::new()?;
        certificate(&scratch.path().join("tls"))?;
        std::fs::copy(scratch.path().join("tls/tls.key"), scratch.path().join("sa.key"))
            .map_err(|e| e.to_string())?;
        scratch.write("tokens.csv", format!("{TOKEN},admin,admin,system:masters\n"))?;
        let (etcd, peer, port) = (free_port()?, free_port()?, free_port()?);
        let has_controllers = assets.join("kube-controller-manager").is_file();
        let mut plane = Self {
            port,
            assets: assets.to_path_buf(),
            scratch,
            etcd,
            processes: Vec::new(),
            api_server: Mutex::new(None),
            flags: Vec::new(),
            has_controllers,
            namespaces: AtomicUsize::new(0),
        };
        let etcd_url = format!("http://127.0.0.1:{etcd}");
        let peer_url = format!("http://127.0.0.1:{peer}");
        plane.spawn(
            "etcd",
            &[
                "--data-dir",
                "etcd",
                "--unsafe-no-fsync",
                "--listen-client-urls",
                &etcd_url,
                "--advertise-client-urls",
                &etcd_url,
                "--listen-peer-urls",
                &peer_url,
                "--initial-advertise-peer-urls",
                &peer_url,
                "--initial-cluster",
                &format!("default={peer_url}"),
            ],
        )?;
        let secure = format!("--secure-port={port}");
        let servers = format!("--etcd-servers={etcd_url}");
        let mut flags = vec![
            servers.as_str(),
            "--bind-address=127.0.0.1",
            &secure,
            "--tls-cert-file=tls/tls.crt",
            "--tls-private-key-file=tls/tls.key",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=tls/tls.crt",
            "--service-account-signing-key-file=sa.key",
            "--endpoint-reconciler-type=none",
            "--allow-privileged=true",
            "--audit-policy-file=audit.yaml",
            "--audit-log-path=audit.log",
            "--audit-log-mode=blocking",
        ];
        if !has_controllers {
            flags.push("--disable-admission-plugins=ServiceAccount");
        }
        plane.scratch.write("audit.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n  resources:\n  - group: \"\"\n    resources: [pods]\n- level: None\n")?;
        plane.flags = flags.into_iter().map(str::to_owned).collect();
        plane.scratch.write("kubeconfig", format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: e, cluster: {{server: 'https://127.0.0.1:{port}', certificate-authority: tls/ca.crt}}}}]\n\
             users: [{{name: e, user: {{token: {TOKEN}}}}}]\ncontexts: [{{name: e, context: {{cluster: e, user: e}}}}]\ncurrent-context: e\n"
        ))?;
        plane.start_api_server()?;
        if has_controllers {
            let controllers = format!("--controllers={CONTROLLERS}");
            plane.spawn(
                "kube-controller-manager",
                &[
                    "--kubeconfig=kubeconfig",
                    "--leader-elect=false",
                    "--bind-address=127.0.0.1",
                    "--secure-port=0",
                    "--service-account-private-key-file=sa.key",
                    "--root-ca-file=tls/ca.crt",
                    "--use-service-account-credentials",
                    &controllers,
                ],
            )?;
        }
        plane.install_crds()?;
        Ok(plane)
    }

    /// Starts the API server and waits until it is ready.
    pub(crate) fn start_api_server(&self) -> Result<(), String> {
        self.start_api_server_with(&[])
    }

    /// The same with more flags.
    pub(crate) fn start_api_server_with(&self, more: &[&str]) -> Result<(), String> {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let mut child = self.child("kube-apiserver", &flags)?;
        let end = Instant::now() + Duration::from_secs(60);
        let mut ready = false;
        while !ready && Instant::now() < end && child.try_wait().is_ok_and(|ended| ended.is_none()) {
            std::thread::sleep(Duration::from_millis(100));
            ready = self.kubectl(&["get", "--raw", "/readyz"], "")?.stdout == "ok";
        }
        *self.api_server.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        if ready { Ok(()) } else { Err(self.log_tail("kube-apiserver")) }
    }

    /// Kills the API server, as a machine that loses its power does.
    pub(crate) fn kill_api_server(&self) {
        if let Some(mut child) = self.api_server.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Asks etcd past the API server, over its JSON gateway.
    pub(crate) fn etcd(&self, path: &str, body: &serde_json::Value) -> Result<serde_json::Value, String> {
        use std::io::Write;
        let mut stream = TcpStream::connect(("127.0.0.1", self.etcd)).map_err(|e| e.to_string())?;
        let body = body.to_string();
        write!(
            stream,
            "POST /v3/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .map_err(|e| e.to_string())?;
        let answer = Answer::read(&mut stream)?;
        if answer.status == 200 { answer.json() } else { Err(answer.body) }
    }

    fn spawn(&mut self, name: &str, args: &[&str]) -> Result<(), String> {
        let child = self.child(name, args)?;
        self.processes.push(child);
        Ok(())
    }

    /// Starts a program of the control plane; ending it is the caller's.
    pub(crate) fn child(&self, name: &str, args: &[&str]) -> Result<Child, String> {
        let log = std::fs::File::create(self.scratch.path().join(format!("{name}.log")))
            .map_err(|e| e.to_string())?;
        Command::new(self.assets.join(name))
            .args(args)
            .current_dir(self.scratch.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|e| format!("{name}: {e}"))
    }

    pub(crate) fn log_tail(&self, name: &str) -> String {
        let log =
            std::fs::read_to_string(self.scratch.path().join(format!("{name}.log"))).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(5).collect();
        format!("{name}: {}", lines.into_iter().rev().collect::<Vec<_>>().join("\n"))
    }

    /// The CRDs of the objects that the tests create, as their projects ship them.
    pub(crate) fn install_crds(&self) -> Result<(), String> {
        for (group, plural, kind) in [
            ("sriovnetwork.openshift.io", "sriovnetworknodepolicies", "SriovNetworkNodePolicy"),
            ("k8s.cni.cncf.io", "network-attachment-definitions", "NetworkAttachmentDefinition"),
        ] {
            let singular = kind.to_lowercase();
            let crd = format!(
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.{group}}}\n\
                 spec:\n  group: {group}\n  scope: Namespaced\n  names: {{plural: {plural}, singular: {singular}, kind: {kind}}}\n  versions:\n  - \
                 {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}\n"
            );
            self.apply(&crd)?;
        }
        self.until("the CRDs are served", Duration::from_secs(20), || {
            Ok(self.kubectl(&["get", "sriovnetworknodepolicies", "-A"], "")?.ok)
        })
    }

    /// A program of the control plane's tools.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.assets.join(name)
    }

    /// Calls kubectl with `input` on its standard input.
    pub(crate) fn kubectl(&self, args: &[&str], input: &str) -> Result<Kubectl, String> {
        use std::io::Write;
        let mut child = Command::new(self.assets.join("kubectl"))
            .arg("--kubeconfig=kubeconfig")
            .args(args)
            .env("HOME", self.scratch.path())
            .current_dir(self.scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        child.stdin.take().ok_or("no pipe")?.write_all(input.as_bytes()).map_err(|e| e.to_string())?;
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Kubectl {
            ok: output.status.success(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        })
    }

    /// Applies manifests, which must succeed.
    pub(crate) fn apply(&self, manifests: &str) -> Result<(), String> {
        let done = self.kubectl(&["apply", "-f", "-"], manifests)?;
        if done.ok { Ok(()) } else { Err(done.stderr) }
    }

    /// An object as JSON.
    pub(crate) fn get(&self, args: &[&str]) -> Result<serde_json::Value, String> {
        let done = self.kubectl(&[&["get", "-o", "json"], args].concat(), "")?;
        serde_json::from_str(&done.stdout).map_err(|e| format!("{e}: {}", done.stderr))
    }

    /// A namespace with labels, ready for pods.
    pub(crate) fn namespace(&self, labels: &[(&str, &str)]) -> Result<String, String> {
        let name = format!("e2e-{}", self.namespaces.fetch_add(1, Ordering::Relaxed));
        let labels: Vec<String> = labels.iter().map(|(k, v)| format!("{k}: {v:?}")).collect();
        self.apply(&format!(
            "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{{}}}}}\n",
            labels.join(", ")
        ))?;
        self.until("the namespace has its service account", Duration::from_secs(60), || {
            Ok(!self.has_controllers || self.kubectl(&["get", "sa", "default", "-n", &name], "")?.ok)
        })?;
        Ok(name)
    }

    pub(crate) fn until(
        &self,
        what: &str,
        most: Duration,
        mut done: impl FnMut() -> Result<bool, String>,
    ) -> Result<(), String> {
        let end = Instant::now() + most;
        while Instant::now() < end {
            if done()? {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("after {most:?} it is not so that {what}"))
    }

    pub(crate) fn directory(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn ca(&self) -> PathBuf {
        self.scratch.path().join("tls/ca.crt")
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.kill_api_server();
        for child in self.processes.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
