//! Commands of a page, word for word, by a shell.

use crate::e2e::support::plane::Plane;
use crate::support::helm::Helm;
use crate::support::{Scratch, read, root};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const OUTPUT: &str = "<!-- cluster output -->";

/// Commands of one block, and the lines that their output has.
struct Step {
    commands: String,
    expected: Vec<String>,
}

/// The part of a page below a heading.
pub(super) fn section(page: &str, heading: &str) -> Result<String, String> {
    let text = read(&root().join(page))?;
    let (_, section) = text.split_once(heading).ok_or_else(|| format!("{page} has no {heading:?}"))?;
    Ok(section.split("\n## ").next().unwrap_or_default().to_owned())
}

fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = text.lines();
    let mut is_output = false;
    while let Some(line) = lines.next() {
        if line == OUTPUT {
            is_output = true;
        } else if line == "```sh" || (is_output && line == "```") {
            let block: Vec<String> = lines.by_ref().take_while(|l| *l != "```").map(str::to_owned).collect();
            match steps.last_mut() {
                Some(step) if is_output => step.expected = block,
                _ => steps.push(Step { commands: block.join("\n"), expected: Vec::new() }),
            }
            is_output = false;
        }
    }
    if steps.len() < 8 { Err(format!("the page has {} blocks", steps.len())) } else { Ok(steps) }
}

/// Runs every block in a checkout, with this Helm, the plane's kubectl and our program. `before` gets the commands of each
/// block.
pub(super) fn run(
    plane: &Plane,
    helm: &Helm,
    text: &str,
    before: impl Fn(&str) -> Result<(), String>,
) -> Result<(), String> {
    let (tools, checkout) = (Scratch::new()?, Scratch::new()?);
    let link = |target: &Path, name: &Path| {
        std::os::unix::fs::symlink(target, name).map_err(|e| format!("{}: {e}", name.display()))
    };
    link(helm.program(), &tools.path().join("helm"))?;
    link(&plane.program("kubectl"), &tools.path().join("kubectl"))?;
    link(Path::new(env!("CARGO_BIN_EXE_fabric-admission")), &tools.path().join("fabric-admission"))?;
    // What the commands write stays out of the sources.
    for directory in ["deploy", "docs", "examples"] {
        link(&root().join(directory), &checkout.path().join(directory))?;
    }
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap_or_default());
    for step in steps(text)? {
        before(&step.commands)?;
        let began = Instant::now();
        loop {
            let done = Command::new("sh")
                .args(["-ec", &step.commands])
                .current_dir(checkout.path())
                .env("PATH", &path)
                .env("KUBECONFIG", plane.directory().join("kubeconfig"))
                .env("HOME", tools.path())
                .output()
                .map_err(|e| e.to_string())?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let shown = text(&done.stdout) + &text(&done.stderr);
            let missing = step.expected.iter().find(|line| !shown.contains(line.trim()));
            // A refusal is what one of them shows.
            let ended = done.status.success() || step.expected.iter().any(|line| line.contains("denied"));
            match missing {
                None if ended => break,
                // A label is known to the API server's webhooks some milliseconds later than to its store.
                Some(_) if began.elapsed() < Duration::from_secs(5) => {
                    std::thread::sleep(Duration::from_millis(300));
                }
                missing => return Err(format!("{}\nlacks {missing:?}:\n{shown}", step.commands)),
            }
        }
        let first = step.commands.lines().next().unwrap_or_default().to_owned();
        eprintln!("{:?}: {first}", began.elapsed());
    }
    Ok(())
}
