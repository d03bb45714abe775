//! The recipe of a release, `deploy/dist/build`, with a cargo that compiles nothing: what the recipe does with what cargo
//! left. Compiling for musl takes many minutes and tools that few machines have.

use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, names, read, root};
use std::process::{Command, Output};

/// Writes what the three commands of cargo write. A list of components lies beside each Cargo.toml of the workspace; the one
/// below `target` is not of the recipe.
const CARGO: &str = r#"#!/usr/bin/env bash
set -euo pipefail
case "$1" in
  run)
    pages="${!#}"
    mkdir -p "$pages/man" "$pages/completions"
    echo page >"$pages/man/fabric-admission.1"
    echo completion >"$pages/completions/_fabric-admission"
    echo licences >"$pages/LICENSES-OF-DEPENDENCIES.txt"
    ;;
  auditable)
    target="${!#}"
    mkdir -p "target/$target/dist"
    printf '%s' "$BINARY" >"target/$target/dist/fabric-admission"
    truncate --size "$BYTES" "target/$target/dist/fabric-admission"
    ;;
  cyclonedx)
    mkdir -p src/cli target/package
    for file in components.json src/cli/components.json target/package/components.json; do
      echo "{\"ref\": \"path+file://$PWD#fabric-admission\"}" >"$file"
    done
    ;;
esac
"#;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("release::recipe_packs_what_cargo_left", packs);
    suite.add("release::recipe_refuses_a_large_or_dynamic_binary", refuses);
}

/// A copy of what the recipe reads, with that cargo.
fn place() -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    for file in ["deploy/dist/build", "Cargo.toml", "LICENSE", "README.md"] {
        scratch.write(file, read(&root().join(file))?)?;
    }
    scratch.write("bin/cargo", CARGO)?;
    let done = Command::new("chmod").arg("+x").arg(scratch.path().join("bin/cargo")).status();
    done.map_err(|e| format!("chmod: {e}"))?;
    Ok(scratch)
}

/// Runs the recipe for both architectures.
fn build(place: &Scratch, out: &str, mask: &str, binary: &str, bytes: u64) -> Result<Output, String> {
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("bash")
        .args(["-c", &format!("umask {mask} && bash deploy/dist/build {out}")])
        .current_dir(place.path())
        .env("PATH", format!("{}:{path}", place.path().join("bin").display()))
        .envs([
            ("SOURCE_DATE_EPOCH", "1700000000"),
            ("FABRIC_ADMISSION_COMMIT", "0123abc"),
            ("BINARY", binary),
        ])
        .env("BYTES", bytes.to_string())
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .map_err(|e| format!("bash: {e}"))
}

fn packs() -> Outcome {
    let version = env!("CARGO_PKG_VERSION");
    let place = place()?;
    for (out, mask) in [("one", "022"), ("two", "077")] {
        let done = build(&place, out, mask, "a binary", 15 << 20)?;
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let out = place.path().join("one");
    let archives = ["amd64", "arm64"].map(|arch| format!("fabric-admission-{version}-linux-{arch}.tar.gz"));
    let components = format!("fabric-admission-{version}.cdx.json");
    let [first, second] = archives.clone();
    assert_eq!(names(&out), ["SHA256SUMS", &first, &second, &components, "linux"].map(str::to_owned));
    let sums = read(&out.join("SHA256SUMS"))?;
    let summed: Vec<&str> =
        sums.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name).collect();
    assert_eq!(summed, [first.as_str(), &second, &components]);
    assert_eq!(sums, read(&place.path().join("two/SHA256SUMS"))?, "another umask gives other bytes");
    assert_eq!(read(&out.join(&components))?, "{\"ref\": \"path+file:///build#fabric-admission\"}\n");

    let listed = Command::new("tar").arg("-tf").arg(out.join(&first)).output()?;
    let listed = String::from_utf8(listed.stdout)?;
    for file in [
        "LICENSE",
        "LICENSES-OF-DEPENDENCIES.txt",
        "README.md",
        "completions/_fabric-admission",
        "fabric-admission",
        "man/fabric-admission.1",
    ] {
        let path = format!("fabric-admission-{version}-linux-amd64/{file}");
        assert!(listed.lines().any(|line| line == path), "{path} is not in:\n{listed}");
    }
    // The sources are as before; what another command left in `target` stays.
    for file in ["components.json", "src/cli/components.json"] {
        assert!(!place.path().join(file).exists(), "{file}");
    }
    assert!(place.path().join("target/package/components.json").is_file());
    Ok(())
}

fn refuses() -> Outcome {
    let place = place()?;
    for (binary, bytes, reason) in [
        ("a binary", (15 << 20) + 1, "has 15728641 bytes; at most 15728640"),
        ("/lib/ld-musl-x86_64.so.1", 100, "is not static"),
    ] {
        let done = build(&place, "out", "022", binary, bytes)?;
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{error}");
        assert!(error.contains(reason), "{error}");
        assert!(!place.path().join("out/SHA256SUMS").exists(), "{reason}");
    }
    Ok(())
}
