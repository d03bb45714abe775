//! `estimate`: the published example through the command line, its JSON and wrong values. The formulas:
//! `src/engine/estimate`.

use crate::support::in_the_pod::IMAGE;
use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{Scratch, golden, root, run};
use fabric_admission::estimate::Document;
use serde_json::{Value, json};

const EXAMPLE: [&str; 9] = [
    "estimate",
    "--parameters",
    "bert-base",
    "--precision",
    "fp32",
    "--compute",
    "150ms",
    "--iterations",
    "100000",
];

pub(crate) fn add(suite: &mut Suite) {
    suite.add("estimate::the_published_example", || Ok(published()?));
    suite.add("estimate::rails_of_a_profile", || Ok(profile()?));
    suite.add("estimate::facts_of_preflight", || Ok(facts()?));
    suite.add("estimate::a_line_for_each_workload_of_a_review", || Ok(of_review()?));
    suite.add("estimate::schema_is_current", || {
        let settings = schemars::generate::SchemaSettings::default().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<Document>();
        let text = serde_json::to_string_pretty(&schema)? + "\n";
        Ok(golden(&root().join("docs/schema/estimate-v1.json"), Some(&text))?)
    });
    for (name, arguments, words) in [
        ("parameters", &["--parameters", "seven", "--compute", "1s"][..], "such as 7B"),
        ("time", &["--parameters", "7B", "--compute", "soon"], "such as 150ms"),
        ("zero_time", &["--parameters", "7B", "--compute", "0s"], "such as 150ms"),
        ("fabric", &["--parameters", "7B", "--compute", "1s", "--fabric", "token-ring"], "100gbe-rdma"),
        ("rate", &["--parameters", "7B", "--compute", "1s", "--rate=-1"], "such as 400"),
        ("no_rate", &["--parameters", "7B", "--compute", "1s", "--rails", "8"], "--rate"),
        (
            "profile",
            &["--parameters", "7B", "--compute", "1s", "--rate", "400", "--profile", "quantum"],
            "roce-sriov",
        ),
        (
            "efa",
            &["--parameters", "7B", "--compute", "1s", "--rate", "100", "--profile", "aws-efa"],
            "--transport",
        ),
    ] {
        suite.add(format!("estimate::mistake::{name}"), move || {
            let ran = run(&[&["estimate"], arguments].concat(), b"", root())?;
            same("exit code", 2, ran.code)?;
            same(&ran.stderr, true, ran.stderr.contains(words))?;
            Ok(same("stdout", "", ran.stdout.as_str())?)
        });
    }
}

fn json(arguments: &[&str]) -> Result<Value, String> {
    let ran = run(&[arguments, &["-o", "json"]].concat(), b"", root())?;
    same("exit code", 0, ran.code)?;
    let json: Value = serde_json::from_str(&ran.stdout).map_err(|e| e.to_string())?;
    let schema = crate::support::read(&root().join("docs/schema/estimate-v1.json"))?;
    let schema: Value = serde_json::from_str(&schema).map_err(|e| e.to_string())?;
    super::published_schemas::validate(&json, &schema, &schema, "")?;
    Ok(json)
}

/// 440 MB of gradients; 4.0 s, 400 ms and 40 ms; GPUs busy 3.6% and 79%; 115 and 5.3 hours.
fn published() -> Result<(), String> {
    let ran = run(&EXAMPLE, b"", root())?;
    let shown = |id: &str, cells: &[&str]| {
        let row = ran.stdout.lines().find(|line| line.starts_with(id)).unwrap_or_default();
        let missing: Vec<&&str> = cells.iter().filter(|cell| !row.contains(*cell)).collect();
        same(&format!("cells that are missing in {row:?}"), Vec::<&&str>::new(), missing)
    };
    same(&ran.stdout, true, ran.stdout.contains("440 MB of gradients"))?;
    shown("1 GbE ", &[" 4.0 s ", " 3.6% ", "115 h", "severely network-bound"])?;
    shown("10 GbE", &["400 ms"])?;
    shown("100 GbE RDMA", &["40 ms", "79%", "5.3 h", "compute-bound"])?;
    let json = json(&EXAMPLE)?;
    same("fabrics", 5, json["fabrics"].as_array().map_or(0, Vec::len))?;
    same("gradients", Some(440e6), json["step"]["gradientBytes"].as_f64())
}

/// 8 rails of 400 Gb/s with RoCE: 360 GB/s.
fn profile() -> Result<(), String> {
    let step = ["estimate", "--parameters", "70B", "--compute", "2s", "--gpus", "64", "--rate", "400"];
    for more in
        [&["--profile", "roce-sriov"][..], &["--rails", "8"], &["--rails", "8", "--transport", "roce"]]
    {
        let json = json(&[&step[..], more].concat())?;
        same("title", &Value::from("8 x 400 Gb/s RoCE"), &json["fabrics"][0]["title"])?;
        same("throughput", Some(360e9), json["fabrics"][0]["bytesPerSecond"].as_f64())?;
        same("fabrics", 1, json["fabrics"].as_array().map_or(0, Vec::len))?;
    }
    Ok(())
}

/// Runs `estimate --facts` with these ports, as pairs of rate and link layer.
fn with_facts(ports: &[(u32, &str)], flags: &[&str]) -> Result<crate::support::Ran, String> {
    let port =
        |(rate, layer): &(u32, &str)| json!({"ports": [{"number": 1, "rate": rate, "linkLayer": layer}]});
    let scratch = Scratch::new()?;
    let devices: Vec<Value> = ports.iter().map(port).collect();
    scratch.write("facts.json", json!({"version": 1, "devices": devices}).to_string())?;
    let fixed = ["estimate", "--parameters", "7B", "--compute", "1s", "-o", "json", "--facts", "facts.json"];
    let arguments: Vec<&str> = fixed.iter().chain(flags).copied().collect();
    run(&arguments, b"", scratch.path())
}

fn facts() -> Result<(), String> {
    for (ports, flags, title) in [
        (&[(400, "InfiniBand"); 8][..], &[][..], "8 x 400 Gb/s InfiniBand"),
        (&[(400, "Ethernet"); 8], &[], "8 x 400 Gb/s RoCE"),
        (&[(400, "Ethernet"); 2], &["--transport", "tcp"], "2 x 400 Gb/s TCP"),
        (&[(400, "Ethernet"), (200, "Ethernet")], &[], "2 ports, 600 Gb/s RoCE"),
    ] {
        let ran = with_facts(ports, flags)?;
        same(&ran.stderr, 0, ran.code)?;
        let found: Value = serde_json::from_str(&ran.stdout).map_err(|e| e.to_string())?;
        same("fabrics", Some(1), found["fabrics"].as_array().map(Vec::len))?;
        same("title", title, found["fabrics"][0]["title"].as_str().unwrap_or_default())?;
    }
    for (ports, flags, words) in [
        (&[][..], &[][..], "no port with a line rate"),
        (&[(400, "Unknown")], &[], "set --transport"),
        (&[(400, "Ethernet")], &["--rate", "400"], "cannot be used with"),
    ] {
        let ran = with_facts(ports, flags)?;
        same(&ran.stderr, (2, true), (ran.code, ran.stderr.contains(words)))?;
    }
    for text in ["{\"version\": 9}", "nonsense"] {
        let scratch = Scratch::new()?;
        scratch.write("facts.json", text)?;
        let ran = run(
            &["estimate", "--parameters", "7B", "--compute", "1s", "--facts", "facts.json"],
            b"",
            scratch.path(),
        )?;
        same(&ran.stderr, (2, true), (ran.code, ran.stderr.contains("facts.json: ")))?;
    }
    let ran = run(&["estimate", "--parameters", "7B", "--compute", "1s", "--transport", "tcp"], b"", root())?;
    same(&ran.stderr, (2, true), (ran.code, ran.stderr.contains("needs --rate or --facts")))
}

/// A Job of pods with eight GPUs.
fn job(name: &str, completions: u32) -> String {
    format!(
        "apiVersion: batch/v1
kind: Job
metadata: {{name: {name}}}
spec:
  completionMode: Indexed
  completions: {completions}
  parallelism: {completions}
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: trainer
          image: registry.example.com/trainer:1
          resources: {{limits: {{nvidia.com/gpu: 8}}}}
---
"
    )
}

fn of_review() -> Result<(), String> {
    let text = [job("big", 8), job("small", 1)].concat();
    let asked = "parameters=7B,compute=1.2s,rate=400";
    let arguments = ["review", "-", "--profile", "roce-sriov", "--fail-on", "never", "--estimate", asked];
    let ran = run(&arguments, text.as_bytes(), root())?;
    let lines: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("ESTIMATE")).collect();
    let expected = vec![
        "ESTIMATE  Job big: 64 GPUs in 8 pods, 8 x 400 Gb/s RoCE: all-reduce 39 ms, GPUs busy 97%, compute-bound",
        "ESTIMATE  Job small: 8 GPUs in 1 pod: nothing crosses the network",
    ];
    same(&ran.stderr, expected, lines)?;
    let ran = run(&arguments[..6], text.as_bytes(), root())?;
    same("without the flag", false, ran.stdout.contains("ESTIMATE"))?;
    let arguments = arguments.map(|argument| argument.trim_end_matches(",rate=400"));
    let ran = run(&arguments, text.as_bytes(), root())?;
    let line = "ESTIMATE  Job big: 64 GPUs in 8 pods: the line rate is unknown; add rate=400 to --estimate";
    same(&ran.stdout, true, ran.stdout.lines().any(|found| found == line))?;
    // A profile that requires a rate of each port names the rate.
    let profile = format!(
        "apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {{name: site}}
spec:
  base: roce-sriov
  rails: [{{network: fabric/roce, resource: example.com/roce, count: 8}}]
  preflight: {{image: \"{IMAGE}\", rate: 200}}
---
"
    );
    let arguments = arguments.map(|argument| if argument == "roce-sriov" { "site" } else { argument });
    let ran = run(&arguments, (profile + &text).as_bytes(), root())?;
    let line = "ESTIMATE  Job big: 64 GPUs in 8 pods, 8 x 200 Gb/s RoCE: all-reduce 78 ms, GPUs busy 94%, compute-bound";
    same(&(ran.stdout.clone() + &ran.stderr), true, ran.stdout.lines().any(|found| found == line))?;
    for wrong in
        ["7B", "parameters=7B", "parameters=7B,compute=1s,rate=400,rate=1", "parameters=7B,compute=1s,rate=0"]
    {
        let ran = run(&["review", "-", "--estimate", wrong], text.as_bytes(), root())?;
        same(wrong, 2, ran.code)?;
    }
    Ok(())
}
