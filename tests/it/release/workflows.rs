//! The workflows and the action: read by actionlint where it is, pinned in any case. And the krew manifest.

use crate::support::round_trip::{documents, same};
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, names, read, root};
use std::process::Command;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("release::actions_are_pinned_by_commit", pinned);
    suite.add("release::krew_manifest", krew);
    let linter = std::env::var_os("FABRIC_ADMISSION_ACTIONLINT");
    if let Some(linter) = linter {
        suite.add("release::workflows_are_understood_by_actionlint", move || {
            let done = Command::new(linter).args(workflows()).current_dir(root()).output()?;
            let text = String::from_utf8_lossy(&done.stdout).into_owned();
            // The linter of npm is older than these names.
            let old = ["label \"ubuntu-24.04\" is unknown", "unknown permission scope \"attestations\""];
            let found: Vec<&str> = text.lines().filter(|l| !old.iter().any(|o| l.contains(o))).collect();
            Ok(same("what actionlint reports", Vec::<&str>::new(), found)?)
        });
    }
}

fn workflows() -> Vec<String> {
    let directory = ".github/workflows";
    names(&root().join(directory)).into_iter().map(|name| format!("{directory}/{name}")).collect()
}

/// A tag can be moved, a commit cannot.
fn pinned() -> Outcome {
    let files = workflows();
    assert!(files.len() >= 3, "{files:?}");
    for file in files.iter().map(String::as_str).chain(["action.yml"]) {
        for line in read(&root().join(file))?.lines() {
            let Some((_, action)) = line.split_once("uses: ") else { continue };
            let (name, version) =
                action.split_once(" # ").ok_or_else(|| format!("{file}: no version: {line}"))?;
            let commit = name.split_once('@').map(|(_, commit)| commit).unwrap_or_default();
            let whole = commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
            assert!(whole && version.starts_with('v'), "{file}: {line}");
        }
    }
    Ok(())
}

/// The manifest of a release with two archives.
fn krew() -> Outcome {
    let scratch = Scratch::new()?;
    let version = env!("CARGO_PKG_VERSION");
    let archive = |arch: &str| format!("fabric-admission-{version}-linux-{arch}.tar.gz");
    let (one, two) = ("1".repeat(64), "2".repeat(64));
    let sums = format!("{one}  {}\n{two}  {}\n3  x.cdx.json\n", archive("amd64"), archive("arm64"));
    scratch.write("SHA256SUMS", sums)?;
    let done =
        Command::new("bash").arg("deploy/dist/krew").arg(scratch.path()).current_dir(root()).output()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let (_, plugin) = documents(&done.stdout).into_iter().next().ok_or("no manifest")?;
    let platforms = plugin["spec"]["platforms"].as_array().ok_or("no platforms")?;
    assert_eq!(platforms.len(), 2, "{plugin}");
    assert_eq!(platforms[1]["selector"]["matchLabels"]["arch"], "arm64");
    assert_eq!(platforms[1]["sha256"], two);
    let uri = platforms[0]["uri"].as_str().unwrap_or_default();
    assert!(uri.ends_with(&format!("/v{version}/{}", archive("amd64"))), "{uri}");
    assert_eq!(plugin["spec"]["version"], format!("v{version}"));
    Ok(())
}
