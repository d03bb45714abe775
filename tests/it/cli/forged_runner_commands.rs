//! Names and values of the inputs that are commands for a runner of CI: no text output has a line that a runner takes for one.

use crate::support::round_trip::documents;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, read, run};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("forged_runner_commands::no_text_output_has_one", forged);
    suite.add("forged_runner_commands::no_answer_of_an_api_server_is_one", || Ok(answers()?));
    suite.add("forged_runner_commands::no_comparison_with_a_baseline_has_one", baselines);
    suite.add("forged_runner_commands::no_yaml_has_one", yaml);
    suite.add("forged_runner_commands::unchanged_yaml_has_none", unchanged_yaml);
}

/// Blanks before a command: runners ignore them.
const BLANKS: [&str; 5] = [" ", "  ", " \u{a0} ", " \u{2003}", "  \u{3000}"];

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
            // Several blanks: a line may break at each.
            " ::error::pwn",
            "  \u{a0}::error::pwn",
            "\u{2003}::error::pwn",
            "\u{3000} ::error::pwn",
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
    // A word that is longer than a line is followed by a line break.
    let long = "a".repeat(120);
    for (at, blanks) in BLANKS.iter().enumerate() {
        scratch.write(
            &format!("blanks{at}.log"),
            format!("h:1:1 [0] NCCL WARN {long}{blanks}::error file=a,line=1::pwn\n"),
        )?;
        scratch.write(
            &format!("blanks/{at}.yaml"),
            format!(
                "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: x{at}}}\nspec: {{base: \
                 \"{long}{blanks}::error file=a::pwn\"}}\n"
            ),
        )?;
        none_in_output(&scratch, &format!("verify-log blanks{at}.log"))?;
    }
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
        "profiles list --cluster blanks",
        "profiles validate blanks",
        "profiles validate in",
        "profiles test ::error::e.yaml",
        "verify-log ::error::l.log",
        "explain ::error::x",
    ] {
        none_in_output(&scratch, command)?;
    }
    Ok(())
}

/// A text that begins lines of its own.
const LINES: &str = "x\n::error file=a::pwn\n##vso[task.complete]\u{1b}[31m\u{202e}";

/// A change of others may bring a baseline.
fn baselines() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write(
        "a.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: team}\nspec:\n  containers:\n  - {name: c, image: i, env: [{name: \
         NCCL_IB_DISABLE, value: \"1\"}], resources: {limits: {nvidia.com/gpu: 8}}}\n",
    )?;
    for (command, formats) in [
        ("review a.yaml --profile roce-sriov", &["text", "github", "junit", "sarif", "gitlab", "json"][..]),
        ("audit --cluster a.yaml --profile roce-sriov", &["text", "json"]),
    ] {
        let made = format!("{command} --write-baseline own.json");
        let made = run(&made.split(' ').collect::<Vec<_>>(), b"", scratch.path())?;
        let mut baseline: Value = serde_json::from_str(&read(&scratch.path().join("own.json"))?)
            .map_err(|error| format!("{error}: {made:?}"))?;
        let entry = baseline["entries"][0].clone();
        let with = |pointer: &str, value: &str| {
            let mut entry = entry.clone();
            if let Some(field) = entry.pointer_mut(pointer) {
                *field = value.into();
            }
            entry
        };
        let entries = [with("/rule", LINES), with("/path", LINES), with("/object/kind", "##[error]x")];
        for (pointer, added) in [("/entries", &entries[..]), ("/rules", &[LINES.into()])] {
            let list = baseline.pointer_mut(pointer).and_then(Value::as_array_mut).ok_or("no list")?;
            list.extend_from_slice(added);
        }
        for kind in ["##[error]x", LINES] {
            let gaps =
                baseline.pointer_mut("/coverage/gaps").and_then(Value::as_array_mut).ok_or("no gaps")?;
            gaps.push(json!({"apiVersion": "v1", "kind": kind}));
        }
        scratch.write("forged.json", baseline.to_string())?;
        for format in formats {
            let compared = format!("{command} --new-since forged.json -o {format}");
            let (stdout, stderr) = none_in_output(&scratch, &compared)?;
            if *format == "text" && !(stdout + &stderr).contains("only one of the two versions has rule") {
                return Err(format!("{compared} compares nothing").into());
            }
        }
    }
    Ok(())
}

/// Texts of several lines are blocks in YAML, in which each line would stand as it is.
fn yaml() -> Outcome {
    let scratch = Scratch::new()?;
    let text = serde_json::to_string(LINES).unwrap_or_default();
    scratch.write(
        "a.yaml",
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a, namespace: team}}\nspec:\n  containers:\n  - {{name: c, image: i, \
             command: [sh, -c, {text}], resources: {{limits: {{nvidia.com/gpu: 8}}}}}}\n"
        ),
    )?;
    scratch.write(
        "profiles/p.yaml",
        format!(
            "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: x}}\nspec:\n  base: roce-sriov\n  \
             nodeSelector: {{matchLabels: {{a: b}}}}\n  env: [{{name: NCCL_DEBUG, value: INFO, reason: {text}}}]\n"
        ),
    )?;
    for command in ["review a.yaml --profile roce-sriov -o yaml", "profiles show x --profiles profiles"] {
        let (stdout, stderr) = none_in_output(&scratch, command)?;
        if !stdout.contains("error file=a::pwn") {
            return Err(format!("{command}: {stdout} {stderr}").into());
        }
    }
    Ok(())
}

/// Documents that a review does not change, with commands in a comment, a block or a quoted text.
const UNCHANGED: [&str; 4] = [
    "apiVersion: v1\nkind: ConfigMap\n# ##vso[task.setvariable variable=x]y\nmetadata: {name: a}\ndata: {x: y}\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  readme: |\n    ::error file=a,line=1::pwn\n    ::add-mask::x\n    \
     ##[error]pwn\n    ##vso[task.complete result=Succeeded]done\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {b: \"\u{202e}x\u{2066}\"}}\ndata: {c: \"0640\", d: \"on\"}\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: 'y\n\n    \u{a0}::error::pwn'\n",
];

/// A document without a patch is printed as it is, unless a runner would take a line of it for a command: its values are then
/// written anew.
fn unchanged_yaml() -> Outcome {
    let scratch = Scratch::new()?;
    let review = "review a.yaml --profile roce-sriov -o yaml";
    for text in UNCHANGED {
        scratch.write("a.yaml", text)?;
        let (stdout, stderr) = none_in_output(&scratch, review)?;
        if documents(stdout.as_bytes()) != documents(text.as_bytes()) {
            return Err(format!("other values: {text}{stdout}{stderr}").into());
        }
    }
    let plain = "# A comment\r\napiVersion:   v1\nkind: ConfigMap # c::d ## e\nmetadata: {name: 'é',}\ndata:\n  x: |\n\t# y\n    ## [z]\n";
    let plain = plain.replace('\t', "    ");
    let both = format!("{plain}---\n{}", UNCHANGED[1]);
    scratch.write("a.yaml", both)?;
    let (stdout, stderr) = none_in_output(&scratch, review)?;
    if !stdout.contains(&plain) || !stdout.contains("pwn") {
        return Err(format!("{plain:?}, {stdout:?} {stderr}").into());
    }
    scratch.write("a.yaml", &plain)?;
    let (stdout, stderr) = none_in_output(&scratch, review)?;
    if stdout != plain {
        return Err(format!("{plain:?}, {stdout:?} {stderr}").into());
    }
    Ok(())
}

/// `doctor` repeats the messages of the server.
fn answers() -> Result<(), String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    // The thread ends with the process.
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // A client that is gone needs no answer.
            let _ = answer(stream);
        }
    });
    let scratch = Scratch::new()?;
    scratch.write(
        "kubeconfig",
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\nclusters: \
             [{{name: a, cluster: {{server: \"http://{address}\"}}}}]\nusers: [{{name: a, user: {{token: x}}}}]\n"
        ),
    )?;
    for format in ["table", "json"] {
        let (stdout, stderr) =
            none_in_output(&scratch, &format!("doctor --kubeconfig kubeconfig -o {format}"))?;
        if !stdout.contains("a message of the server") {
            return Err(format!("{stdout}{stderr}"));
        }
    }
    Ok(())
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut line) = (String::new(), String::new());
    reader.read_line(&mut first)?;
    while line != "\r\n" {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
    }
    let (status, body) = match first.starts_with("GET /version ") {
        true => ("200 OK", json!({"major": "1", "minor": "33", "gitVersion": "v1.33.0"})),
        false => (
            "500 Internal Server Error",
            json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "InternalError", "code": 500,
                "message": format!("a message of the server ##vso[task.setvariable variable=a]b ##[error]c {LINES}")}),
        ),
    };
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Runs a command, of which no line may be a command of a runner. Its output.
fn none_in_output(scratch: &Scratch, command: &str) -> Result<(String, String), String> {
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
            return Err(format!("{command}: {stream}: {line:.300}"));
        }
    }
    Ok((ran.stdout, ran.stderr))
}
