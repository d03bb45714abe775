//! The README's quick start, word for word, by a shell.

use crate::e2e::support::plane::Plane;
use crate::support::helm::Helm;
use crate::support::{Scratch, read, root};
use std::process::Command;
use std::time::{Duration, Instant};

const SECTION: &str = "## Quick start on a cluster";
const OUTPUT: &str = "<!-- cluster output -->";

/// Commands of one block, and the lines that their output has.
struct Step {
    commands: String,
    expected: Vec<String>,
}

fn steps() -> Result<Vec<Step>, String> {
    let page = read(&root().join("README.md"))?;
    let (_, section) = page.split_once(SECTION).ok_or("README.md has no quick start")?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = section.lines();
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
    if steps.len() < 8 { Err(format!("the quick start has {} blocks", steps.len())) } else { Ok(steps) }
}

/// Runs every block in a checkout, with this Helm and the plane's kubectl.
pub(super) fn run(plane: &Plane, helm: &Helm) -> Result<(), String> {
    let tools = Scratch::new()?;
    for (name, program) in [("helm", helm.program().to_owned()), ("kubectl", plane.program("kubectl"))] {
        std::os::unix::fs::symlink(program, tools.path().join(name)).map_err(|e| e.to_string())?;
    }
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap_or_default());
    for step in steps()? {
        let began = Instant::now();
        loop {
            let done = Command::new("sh")
                .args(["-ec", &step.commands])
                .current_dir(root())
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
