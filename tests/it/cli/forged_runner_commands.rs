//! Names and values of the inputs that are commands for a runner of CI: no text output has a line that a runner takes for one.

use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, run};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("forged_runner_commands::no_text_output_has_one", forged);
}

/// Words that a line may break before, at several places of the line, and names that begin a line.
fn manifests() -> String {
    let mut text = String::new();
    for length in 0..24 {
        let long = "a".repeat(40 + length);
        for command in [
            "::error::pwn",
            "##[error]pwn",
            "##vso[task.complete]",
            "###vso[x]",
            "##teamcity[x]",
            "\u{9b}\u{202e}\u{85}##[",
        ] {
            text += &format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{length}, annotations: {{fabric-admission.dev/ignore.FAB501: \"{long} \
                 {command}\", fabric-admission.dev/ignore.FAB501{command}: x}}}}\nspec:\n  containers:\n  - {{name: c, image: i, env: \
                 [{{name: NCCL_SOCKET_IFNAME, value: \"{long} {command}\"}}], resources: {{limits: {{nvidia.com/gpu: 8}}}}}}\n"
            );
        }
    }
    for name in ["::error::pwn", "\u{a0}::error::pwn", "##vso[task.complete]", "a ##[error]b"] {
        text += &format!(
            "---\napiVersion: x.io/v1\nkind: \"{name}\"\nmetadata: {{name: \"{name}\", namespace: \"{name}\"}}\nspec: {{template: \
             {{spec: {{containers: [{{name: \"{name}\", image: i, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}}}}}\n"
        );
        text += &format!(
            "---\napiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: \"{name}\"}}\nspec: {{base: \
             \"{name}\", nodeSelector: {{matchLabels: {{\"{name}\": g}}}}}}\n"
        );
    }
    text
}

fn forged() -> Outcome {
    let scratch = Scratch::new()?;
    for name in ["in/a.yaml", "in/::error::f.yaml", "in/##vso[task.complete]g.yaml", "::error::h.yaml"] {
        scratch.write(name, manifests())?;
    }
    scratch.write("in/broken.yaml", "a: [::error::x, ##vso[task.complete]\n")?;
    scratch.write(
        "::error::l.log",
        "host:1:1 [0] NCCL INFO ::error::pwn\nhost:1:1 [0] NCCL WARN ##vso[task.complete] x\n",
    )?;
    scratch.write("::error::e.expected.yaml", "results: []\n")?;
    scratch.write("::error::e.yaml", manifests())?;
    for command in [
        "review in",
        "review in -v",
        "review -v ::error::h.yaml",
        "review in -o junit",
        "review in -o github",
        "review in -o json",
        "review in -o sarif",
        "review in -o gitlab",
        "why in -o json",
        "audit --cluster in -o json",
        "discover --cluster in -o json",
        "profiles list --profiles in -o json",
        "verify-log ::error::l.log -o json",
        "review nowhere --profile ::error::x",
        "why in",
        "audit --cluster in",
        "audit --cluster in --cluster ::error::h.yaml",
        "discover --cluster in",
        "profiles list --profiles in",
        "profiles list --cluster in",
        "profiles validate in",
        "profiles test ::error::e.yaml",
        "verify-log ::error::l.log",
        "explain ::error::x",
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let ran = run(&arguments, b"", scratch.path())?;
        for (stream, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
            let is_ours = |line: &str| {
                stream == "stdout"
                    && command.contains("github")
                    && [
                        "::error file=",
                        "::warning file=",
                        "::notice file=",
                        "::error title=fabric-admission::",
                        "::warning title=fabric-admission::",
                    ]
                    .iter()
                    .any(|own| line.starts_with(own))
            };
            // A line that is a command already holds no other one.
            let forged = text.split(['\n', '\r']).filter(|line| !is_ours(line)).find(|line| {
                let starts = line.trim_start().starts_with("::");
                let line = line.to_lowercase();
                let inside = ["##[", "##vso[", "##teamcity["].iter().any(|command| line.contains(command));
                starts || inside || line.contains(['\u{9b}', '\u{202e}', '\u{85}'])
            });
            if let Some(line) = forged {
                return Err(format!("{command}: {stream}: {line:.300}").into());
            }
        }
    }
    Ok(())
}
