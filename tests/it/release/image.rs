//! The image of a release, in a real container runtime: built twice with one digest, unpacked, and run with a read-only
//! root, without capabilities and as its own user, until it has answered a review.

use crate::support::server::{Client, admin, bare_pod, certificate, patched, review};
use crate::support::suite::{Need, Outcome, Suite};
use crate::support::{Scratch, root};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Most bytes of an image.
const MOST: u64 = 16 * 1024 * 1024;

pub(crate) fn add(suite: &mut Suite) {
    let Some(binary) = suite.need(Need::Image, "release::image") else { return };
    suite.add("release::image_answers_in_a_container", move || image(&binary));
}

/// A tool that must succeed.
fn tool(program: &str, args: &[&str], directory: &Path) -> Result<String, String> {
    let done = Command::new(program).args(args).current_dir(directory).output();
    let done = done.map_err(|e| format!("{program}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if done.status.success() {
        Ok(text(&done.stdout))
    } else {
        Err(format!("{program}: {}", text(&done.stderr)))
    }
}

fn arch() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }
}

/// Builds the image of a binary; its archive and digest.
fn build(binary: &Path, scratch: &Scratch, dist: &str) -> Result<(PathBuf, String), String> {
    let folder = scratch.path().join(dist);
    let place = folder.join("linux").join(arch());
    std::fs::create_dir_all(&place).map_err(|e| e.to_string())?;
    std::fs::copy(binary, place.join("fabric-admission")).map_err(|e| e.to_string())?;
    tool("bash", &["deploy/dist/image", &folder.to_string_lossy()], root())?;
    let archive =
        folder.join(format!("fabric-admission-{}-linux-{}.oci.tar", env!("CARGO_PKG_VERSION"), arch()));
    let digest = crate::support::read(&folder.join(format!("{}.digest", archive.display())))?;
    Ok((archive, digest))
}

fn image(binary: &Path) -> Outcome {
    let scratch = Scratch::new()?;
    let (archive, digest) = build(binary, &scratch, "one")?;
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(build(binary, &scratch, "two")?.1, digest, "another digest a second later");
    let size = std::fs::metadata(&archive).map_err(|e| e.to_string())?.len();
    assert!(size <= MOST, "{size} bytes");
    eprintln!("{digest}, {size} bytes");

    let here = scratch.path();
    let source = format!("oci-archive:{}", archive.display());
    let configuration: Value =
        serde_json::from_str(&tool("skopeo", &["inspect", "--config", &source], here)?)
            .map_err(|e| e.to_string())?;
    assert_eq!(configuration["config"]["User"], "65532:65532", "{configuration}");
    let labels = &configuration["config"]["Labels"];
    assert_eq!(labels["org.opencontainers.image.version"], env!("CARGO_PKG_VERSION"), "{labels}");
    for label in ["source", "revision", "licenses", "title", "description", "documentation", "created"] {
        assert!(labels[format!("org.opencontainers.image.{label}")].is_string(), "{label}: {labels}");
    }

    tool("skopeo", &["copy", "--quiet", &source, "oci:layout:v"], here)?;
    tool("umoci", &["unpack", "--image", "layout:v", "bundle"], here)?;
    let container = Container::start(here)?;
    let pod = bare_pod();
    let question = review("u", ("", "Pod"), "CREATE", &pod).to_string();
    let answer =
        Client::connect(container.webhook, &here.join("tls/ca.crt"))?.post("/mutate", question.as_bytes())?;
    let fitted = patched(&pod, &answer.json()?)?;
    assert!(fitted.to_string().contains("rail7"), "{fitted}");
    Ok(())
}

/// A container that serves; it ends when this is dropped.
struct Container {
    webhook: SocketAddr,
    program: &'static str,
    runtime: Child,
    name: String,
}

impl Container {
    /// Starts the unpacked image as a kubelet would: another root is not writable, and no capability is left.
    fn start(here: &Path) -> Result<Self, String> {
        let free =
            || TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).map_err(|e| e.to_string());
        let (webhook, port) = (free()?, free()?);
        certificate(&here.join("tls"))?;
        std::fs::create_dir_all(here.join("profiles")).map_err(|e| e.to_string())?;
        std::fs::write(here.join("profiles/p.yaml"), crate::support::server::PROFILE)
            .map_err(|e| e.to_string())?;
        readable(&here.join("tls"))?;
        let file = here.join("bundle/config.json");
        let mut spec: Value =
            serde_json::from_str(&crate::support::read(&file)?).map_err(|e| e.to_string())?;
        assert_eq!(spec["process"]["user"]["uid"], 65532, "{}", spec["process"]);
        let entry = spec["process"]["args"][0].clone();
        let bind = |a: SocketAddr| a.to_string();
        spec["process"]["args"] = json!([
            entry,
            "serve",
            "--bind",
            bind(webhook),
            "--admin-bind",
            bind(port),
            "--tls-cert",
            "/tls/tls.crt",
            "--tls-key",
            "/tls/tls.key",
            "--profiles",
            "/profiles"
        ]);
        spec["process"]["terminal"] = json!(false);
        spec["process"]["noNewPrivileges"] = json!(true);
        spec["process"]["capabilities"] = json!({});
        spec["root"]["readonly"] = json!(true);
        // The network of this machine, and no limits: this sandbox may not let us make others.
        let namespaces = spec["linux"]["namespaces"].as_array_mut().ok_or("no namespaces")?;
        namespaces.retain(|n| n["type"] != "network" && n["type"] != "cgroup");
        spec["linux"].as_object_mut().map(|linux| linux.remove("resources"));
        let mounts = spec["mounts"].as_array_mut().ok_or("no mounts")?;
        mounts.retain(|m| m["destination"] != "/sys/fs/cgroup" && m["destination"] != "/sys");
        for name in ["tls", "profiles"] {
            mounts.push(json!({"destination": format!("/{name}"), "type": "bind", "source": here.join(name),
                "options": ["bind", "ro"]}));
        }
        std::fs::write(&file, spec.to_string()).map_err(|e| e.to_string())?;
        let name = format!("fabric-admission-{}", std::process::id());
        // crun refuses to run where version 1 and 2 of cgroups are mixed, runc does not.
        let programs = ["runc", "crun"];
        let installed = |program: &&&str| Command::new(program).arg("--version").output().is_ok();
        let program = programs.iter().find(installed).ok_or("neither runc nor crun")?;
        let runtime = Command::new(program)
            .args(["run", "--bundle", "bundle", &name])
            .current_dir(here)
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(here.join("log")).map_err(|e| e.to_string())?)
            .spawn()
            .map_err(|e| format!("{program}: {e}"))?;
        let container = Self { webhook, program, runtime, name };
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end {
            if admin(port, "/readyz").is_ok_and(|answer| answer.status == 200) {
                return Ok(container);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("the container is not ready: {}", crate::support::read(&here.join("log"))?))
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = Command::new(self.program).args(["delete", "--force", &self.name]).output();
        let _ = self.runtime.kill();
        let _ = self.runtime.wait();
    }
}

/// The image's user reads the key, as it does through `fsGroup`.
fn readable(directory: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    for name in crate::support::names(directory) {
        let mode = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(directory.join(name), mode).map_err(|e| e.to_string())?;
    }
    Ok(())
}
