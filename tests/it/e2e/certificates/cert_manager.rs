//! A certificate that cert-manager makes: read from its Secret with the rights of the overlay, and never written.

use super::super::profile_status::NAMESPACE;
use super::super::support::plane::Plane;
use super::super::support::site::rendered;
use super::site::{CONFIGURATIONS, Site, metric, readyz};
use crate::support::suite::Outcome;
use crate::support::{root, run};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SECRET: &str = "fabric-admission-tls";

/// What our service account may do in its own namespace and in another, beside what every account may.
fn may(plane: &Plane) -> Result<String, String> {
    let list = |account: &str, namespace: &str| -> Result<BTreeSet<String>, String> {
        let account = format!("--as=system:serviceaccount:{account}");
        let done = plane.kubectl(&["auth", "can-i", "--list", &account, "-n", namespace], "")?;
        if !done.ok {
            return Err(done.stderr);
        }
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(done.stdout.lines().skip(1).map(words).collect())
    };
    let mut text = String::new();
    for namespace in [NAMESPACE, "default"] {
        let ours = list(&format!("{NAMESPACE}:fabric-admission"), namespace)?;
        let others = list(&format!("{NAMESPACE}:somebody"), namespace)?;
        let _ = writeln!(text, "namespace {namespace}: resources, URLs, names, verbs");
        for line in ours.difference(&others) {
            let _ = writeln!(text, "  {line}");
        }
    }
    Ok(text)
}

/// A kustomization of the base and a component; kustomize takes relative paths alone.
fn with_component(plane: &Plane, component: &str) -> Result<String, String> {
    let directory = plane.directory().canonicalize().map_err(|e| e.to_string())?.join(component);
    std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
    let up = "../".repeat(directory.components().count() - 1);
    let deploy = root().join("deploy").canonicalize().map_err(|e| e.to_string())?;
    let deploy = format!("{up}{}", deploy.to_string_lossy().trim_start_matches('/'));
    let text = format!("resources: [{deploy}/base]\ncomponents: [{deploy}/components/{component}]\n");
    std::fs::write(directory.join("kustomization.yaml"), text).map_err(|e| e.to_string())?;
    Ok(directory.to_string_lossy().into_owned())
}

/// The rights as a real API server counts them, of every way to get a certificate.
pub(super) fn rights(plane: &Plane) -> Outcome {
    let account = |overlay: &str| -> Result<(), String> {
        let old = "clusterrole,clusterrolebinding,role,rolebinding";
        for name in ["fabric-admission", "fabric-admission-certificates"] {
            plane.kubectl(&["delete", old, name, "-n", NAMESPACE, "--ignore-not-found"], "")?;
        }
        for object in rendered(plane, overlay)? {
            let kind = object["kind"].as_str().unwrap_or_default();
            if kind == "Namespace" || kind == "ServiceAccount" || kind.contains("Role") {
                plane.apply(&object.to_string())?;
            }
        }
        std::thread::sleep(Duration::from_millis(500));
        Ok(())
    };
    let golden = |name: &str| -> Result<(), String> {
        let file = root().join("tests/rights-of-the-installation").join(name);
        crate::support::golden(&file, Some(&may(plane)?))
    };
    account("base")?;
    golden("self-managed.txt")?;
    account("overlays/cert-manager")?;
    golden("cert-manager.txt")?;
    account("overlays/own-certificate")?;
    golden("own-certificate.txt")?;
    account(&with_component(plane, "cluster-facts")?)?;
    golden("cluster-facts.txt")?;
    account("base")?;
    Ok(())
}

/// What cert-manager would write: a chain and a key, of a CA of their own. The CA.
fn issue(site: &Site<'_>, generation: &str) -> Result<PathBuf, String> {
    let directory = site.plane.directory().join(generation);
    let out = directory.to_string_lossy().into_owned();
    let ran = run(&["certs", "dev", "--out", &out], b"", Path::new("."))?;
    if ran.code != 0 {
        return Err(ran.stderr);
    }
    let (cert, key) = (format!("--cert={out}/tls.crt"), format!("--key={out}/tls.key"));
    let args =
        ["create", "secret", "tls", SECRET, "-n", NAMESPACE, &cert, &key, "--dry-run=client", "-o", "json"];
    let made = site.plane.kubectl(&args, "")?;
    site.plane.apply(&made.stdout)?;
    Ok(directory.join("ca.crt"))
}

/// What cainjector does.
fn inject(site: &Site<'_>, ca: &Path) -> Result<(), String> {
    let ca = STANDARD.encode(std::fs::read(ca).map_err(|e| e.to_string())?);
    for (kind, name) in CONFIGURATIONS {
        let count = site.plane.get(&[kind, name])?["webhooks"].as_array().map_or(0, Vec::len);
        let patch: Vec<_> = (0..count)
            .map(
                |n| json!({"op": "add", "path": format!("/webhooks/{n}/clientConfig/caBundle"), "value": ca}),
            )
            .collect();
        let patch = json!(patch).to_string();
        let done = site.plane.kubectl(&["patch", kind, name, "--type=json", "-p", &patch], "")?;
        if !done.ok {
            return Err(done.stderr);
        }
    }
    Ok(())
}

pub(super) fn by_cert_manager(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let roles = |overlay: &str| -> Result<(), String> {
        for object in rendered(plane, overlay)? {
            if object["kind"].as_str().is_some_and(|kind| kind.contains("Role")) {
                plane.apply(&object.to_string())?;
            }
        }
        Ok(())
    };
    roles("overlays/cert-manager")?;
    let account = format!("--as=system:serviceaccount:{NAMESPACE}:fabric-admission");
    let (kind, name) = CONFIGURATIONS[0];
    let may = plane.kubectl(&["auth", "can-i", "patch", &format!("{kind}/{name}"), &account], "")?;
    assert_eq!(may.stdout.trim(), "no");
    let own = format!("secret/{}", super::site::SECRET);
    let may = plane.kubectl(&["auth", "can-i", "get", &own, "-n", NAMESPACE, &account], "")?;
    assert_eq!(may.stdout.trim(), "no");
    plane.kubectl(&["delete", "secret", SECRET, "-n", NAMESPACE, "--ignore-not-found"], "")?;
    let args = ["--tls-mode", "cert-manager", "--tls-tick", "1s", "--tls-settle", "1s"];
    let server = site.replica_in_mode(&args)?;
    site.front.set(&[&server]);
    let reported = |words: &'static str| {
        plane
            .until(words, Duration::from_secs(10), || Ok(readyz(server.admin)?.1.contains(words)))
            .map_err(|e| format!("{e}: {:?}", readyz(server.admin)))
    };
    reported("does not exist; cert-manager creates it")?;
    let ca = issue(&site, "issued-1")?;
    reported("the caBundle is empty")?;
    inject(&site, &ca)?;
    site.ready(&server)?;
    site.front.set(&[&server]);
    site.create()?;
    // Another CA, no overlap: the old certificate is served until the caBundle has the new CA.
    let ca = issue(&site, "issued-2")?;
    reported("a new certificate that not every caBundle verifies yet")?;
    site.ready(&server)?;
    site.create()?;
    inject(&site, &ca)?;
    plane.until("the new certificate is believed", Duration::from_secs(5), || Ok(site.create().is_ok()))?;
    // Garbage changes nothing.
    let patch = json!({"data": {"tls.crt": STANDARD.encode("garbage")}}).to_string();
    plane.kubectl(&["patch", "secret", SECRET, "-n", NAMESPACE, "--type=merge", "-p", &patch], "")?;
    reported("tls.crt: contains no certificate")?;
    site.ready(&server)?;
    site.create()?;
    assert_eq!(metric(&server, "cabundle_writes_total")?, 0);
    assert!(metric(&server, "leaf_expiry_timestamp_seconds")? > 1_700_000_000);
    roles("base")?;
    plane.kubectl(&["delete", "secret", SECRET, "-n", NAMESPACE], "")?;
    Ok(())
}

/// Keys of the server's own certificates: in memory and in the Secret, and in no file that the process writes or holds open.
pub(super) fn keys(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let server = site.replica(&["--tls-settle", "1s", "--tls-ca-out", "ca.pem"])?;
    site.front.set(&[&server]);
    site.ready(&server)?;
    let mut files: Vec<PathBuf> = Vec::new();
    let entries =
        |path: &Path| std::fs::read_dir(path).map(|all| all.flatten().map(|e| e.path()).collect::<Vec<_>>());
    let mut left = vec![server.scratch.path().to_path_buf()];
    while let Some(directory) = left.pop() {
        for path in entries(&directory).map_err(|e| e.to_string())? {
            if path.is_dir() { left.push(path) } else { files.push(path) }
        }
    }
    assert!(files.iter().any(|path| path.ends_with("ca.pem")), "{files:?}");
    let open = entries(Path::new(&format!("/proc/{}/fd", server.child.id()))).unwrap_or_default();
    files.extend(open.iter().filter_map(|fd| std::fs::read_link(fd).ok()).filter(|path| path.is_file()));
    for file in files {
        let text = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        assert!(!String::from_utf8_lossy(&text).contains("PRIVATE KEY"), "{}", file.display());
    }
    Ok(())
}
