//! The command line: exit codes, formats, modes, flags and their mistakes.

use crate::support::round_trip::{review, same};
use crate::support::suite::Suite;
use crate::support::{Ran, Scratch, binary, root, run};
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Stdio};

const FORMATS: [&str; 9] = ["text", "json", "yaml", "patch", "diff", "sarif", "junit", "github", "gitlab"];

fn pod(name: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n  - name: c\n    image: i\n{more}    \
         volumeMounts: [{{name: dshm, mountPath: /dev/shm}}]\n  volumes:\n  - {{name: dshm, emptyDir: {{medium: Memory, \
         sizeLimit: SIZE}}}}\n"
    )
}

/// Input with nothing to say, with information, a warning, an error, and one that cannot be read.
fn inputs() -> Result<Scratch, String> {
    let gpus = |n: u32| format!("    resources: {{limits: {{nvidia.com/gpu: {n}}}}}\n");
    let profile = "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {name: site}\nspec: {transport: ethernet, \
                   attachment: none}\n";
    let scratch = Scratch::new()?;
    let named = |text: String| {
        text.replace("{name: p}", "{name: p, annotations: {fabric-admission.dev/profile: site}}")
    };
    let with = |text: String| format!("{profile}---\n{}", named(text));
    scratch.write("clean.yaml", with(pod("p", &gpus(2)).replace("SIZE", "16Gi")))?;
    scratch.write("info.yaml", with(pod("p", &gpus(2)).replace("SIZE", "2Gi")))?;
    scratch.write("warning.yaml", with(pod("p", &gpus(2)).replace("SIZE", "64Mi")))?;
    scratch.write(
        "error.yaml",
        with(pod("p", "    resources: {limits: {nvidia.com/gpu: $N}}\n").replace("SIZE", "64Gi")),
    )?;
    scratch.write("broken.yaml", "kind: [\n")?;
    Ok(scratch)
}

pub(crate) fn add(suite: &mut Suite) {
    for (level, codes) in [
        ("error", [0, 0, 0, 1, 2]),
        ("warning", [0, 0, 1, 1, 2]),
        ("info", [0, 1, 1, 1, 2]),
        ("never", [0, 0, 0, 0, 2]),
    ] {
        suite.add(format!("review_flags_and_exit_codes::fail_on_{level}"), move || {
            Ok(exit_codes(level, codes)?)
        });
    }
    suite.add("review_flags_and_exit_codes::audit_denies_nothing", || Ok(audit()?));
    suite.add("review_flags_and_exit_codes::stdout_holds_results_only", || Ok(results_only()?));
    suite.add("review_flags_and_exit_codes::formats_without_findings_name_denied_objects", || Ok(denied()?));
    suite.add("review_flags_and_exit_codes::a_closed_pipe_is_no_error", || Ok(closed_pipe()?));
    for (name, args, words) in [
        (
            "misspelt_profile",
            &["review", "--profile", "roce-sirov", "clean.yaml"][..],
            "did you mean \"roce-sriov\"?",
        ),
        ("unknown_profile", &["review", "--profile", "quantum", "clean.yaml"], "ethernet-tcp"),
        ("empty_profile", &["review", "--profile", "", "clean.yaml"], "known: "),
        ("empty_namespace", &["review", "--namespace", "", "clean.yaml"], "--namespace"),
        ("no_path", &["review"], "PATH"),
        ("unknown_flag", &["review", "--profil", "x", "clean.yaml"], "--profile"),
        ("unknown_format", &["review", "-o", "xml", "clean.yaml"], "json"),
        ("unknown_level", &["review", "--fail-on", "fatal", "clean.yaml"], "never"),
        ("old_kubernetes", &["review", "--kube-version", "1.30", "clean.yaml"], "1.33"),
        ("odd_kubernetes", &["review", "--kube-version", "latest", "clean.yaml"], "1.36"),
        ("unknown_command", &["reveiw", "clean.yaml"], "review"),
        ("missing_profiles", &["review", "--profiles", "nowhere", "clean.yaml"], "no such file"),
        ("missing_cluster", &["review", "--cluster", "nowhere", "clean.yaml"], "no such file"),
    ] {
        suite.add(format!("review_flags_and_exit_codes::mistake::{name}"), move || {
            let scratch = inputs()?;
            let ran = run(args, b"", scratch.path())?;
            same("exit code", 2, ran.code)?;
            if ran.stderr.contains(words) {
                Ok(())
            } else {
                Err(format!("no {words:?}: {}", ran.stderr).into())
            }
        });
    }
    for (name, spec, place, words) in [
        ("unknown_field", "  base: roce-sriov\n  rials: []\n", "6:3", "rials"),
        ("misspelt_base", "  base: roce-sirov\n", "5:3", "did you mean \"roce-sriov\"?"),
        ("wrong_type", "  base: roce-sriov\n  priority: high\n", "6:3", "high"),
        (
            "interface_of_multus",
            "  base: roce-sriov\n  rails: [{network: a/b, interface: net1}]\n",
            "6:26",
            "net1",
        ),
        (
            "misspelt_field",
            "  base: roce-sriov\n  nodeselector: {}\n",
            "6:3",
            "unknown field \"nodeselector\"; did you mean \"nodeSelector\"?",
        ),
        (
            "misspelt_field_of_a_list",
            "  base: roce-sriov\n  env:\n    - name: A\n      vaule: '1'\n",
            "8:7",
            "did you mean \"value\"?",
        ),
        (
            "misspelt_value",
            "  transport: rocev2\n  attachment: none\n",
            "5:3",
            "unknown value \"rocev2\"; did you mean \"roce\"?",
        ),
        (
            "variable_given_twice",
            "  base: roce-sriov\n  env:\n    - {name: A, value: '1'}\n    - {name: A, value: '2'}\n",
            "8:8",
            "duplicate variable A",
        ),
        ("no_quantity", "  base: roce-sriov\n  sharedMemory: {perAccelerator: lots}\n", "6:18", "lots"),
    ] {
        suite.add(format!("review_flags_and_exit_codes::broken_profile::{name}"), move || {
            Ok(broken_profile(spec, place, words)?)
        });
    }
    suite.add("review_flags_and_exit_codes::profiles_load_all_or_none", || Ok(all_or_none()?));
    suite.add("review_flags_and_exit_codes::pods_without_a_profile_are_one_line", || Ok(without_profile()?));
    suite.add("review_flags_and_exit_codes::notes_about_deliberate_settings_need_verbose", || Ok(verbose()?));
    suite.add("review_flags_and_exit_codes::a_lesser_severity_says_why", || Ok(because()?));
    suite.add("review_flags_and_exit_codes::help_and_version", || {
        for args in [&["--help"][..], &["--version"], &["review", "--help"], &["help", "rules"]] {
            let ran = run(args, b"", root())?;
            same(&format!("exit code of {args:?}"), 0, ran.code)?;
            same("whether it prints", false, ran.stdout.is_empty())?;
            same("stderr", "", ran.stderr.as_str())?;
        }
        Ok(())
    });
}

/// The same for every format.
fn exit_codes(level: &str, codes: [i32; 5]) -> Result<(), String> {
    let scratch = inputs()?;
    for (name, code) in ["clean", "info", "warning", "error", "broken"].iter().zip(codes) {
        for format in FORMATS {
            let file = format!("{name}.yaml");
            let ran = run(&["review", "--fail-on", level, "-o", format, &file], b"", scratch.path())?;
            same(&format!("exit code of {name} with -o {format}"), code, ran.code)?;
        }
    }
    let both = run(&["review", "--fail-on", level, "error.yaml", "broken.yaml"], b"", scratch.path())?;
    same("exit code of an error beside a broken file", 2, both.code)
}

fn audit() -> Result<(), String> {
    let scratch = inputs()?;
    let args = |mode: &str| ["--mode", mode, "error.yaml"].map(str::to_owned);
    for (mode, verdict, would_deny) in [("audit", "allow", true), ("enforce", "deny", false)] {
        let review = review(&args(mode), b"", scratch.path())?;
        same("exit code", 1, review.ran.code)?;
        let result = &review.results()[0];
        let seen = (result["mode"].as_str(), result["verdict"].as_str(), result["wouldDeny"].as_bool());
        same("mode, verdict, wouldDeny", (Some(mode), Some(verdict), Some(would_deny)), seen)?;
        let denied = review.json["summary"]["denied"].as_u64();
        same("summary.denied", Some(u64::from(verdict == "deny")), denied)?;
    }
    Ok(())
}

/// An empty patch of a denied object must not look like one of an object that fits.
fn denied() -> Result<(), String> {
    let scratch = inputs()?;
    for (format, words) in [
        ("patch", "no patch is printed for the object"),
        ("diff", "no diff is printed for the object"),
        ("yaml", "the object is printed unchanged"),
    ] {
        let at = |file: &str| run(&["review", "-o", format, file], b"", scratch.path());
        let ran = at("error.yaml")?;
        same("exit code", 1, ran.code)?;
        let line = format!("denied: error.yaml:6: Pod default/p by FAB201; {words}\n  error FAB201 ");
        same(&format!("{format}: {}", ran.stderr), true, ran.stderr.starts_with(&line))?;
        same(format, "", at("warning.yaml")?.stderr.as_str())?;
    }
    // Reports in files are not what the reader of the terminal sees.
    for flags in
        [&["-o", "sarif=s", "-o", "patch=p"][..], &["-o", "json=j", "-o", "diff=d"], &["-o", "yaml=y"]]
    {
        let ran = run(&[&["review"], flags, &["error.yaml"]].concat(), b"", scratch.path())?;
        same("stdout", "", ran.stdout.as_str())?;
        same(&format!("{flags:?}: {}", ran.stderr), true, ran.stderr.starts_with("denied: error.yaml:6: "))?;
    }
    let shown = run(&["review", "-o", "patch=p", "-o", "json", "error.yaml"], b"", scratch.path())?;
    same("with a report on stdout", "", shown.stderr.as_str())?;
    for format in ["text", "json"] {
        same(format, "", run(&["review", "-o", format, "error.yaml"], b"", scratch.path())?.stderr.as_str())?;
    }
    Ok(())
}

/// Errors and warnings go to stderr, so that stdout can be read by programs.
fn results_only() -> Result<(), String> {
    let scratch = inputs()?;
    scratch.write("twice.yaml", "kind: ConfigMap\nkind: ConfigMap\n")?;
    let all = ["broken.yaml", "missing.yaml", "error.yaml", "twice.yaml", "clean.yaml"];
    let ran = |format: &str| run(&[&["review", "-o", format][..], &all].concat(), b"", scratch.path());
    // A report has the repeated key among its findings.
    let reported = |ran: &Ran, format: &str| {
        let words = ["error: broken.yaml:2:1: ", "error: missing.yaml:1:1: "];
        let twice = ran.stderr.contains("warning: twice.yaml:2:1");
        words.iter().all(|w| ran.stderr.contains(w)) && twice == matches!(format, "yaml" | "patch" | "diff")
    };
    for format in FORMATS {
        let ran = ran(format)?;
        same("exit code", 2, ran.code)?;
        same(&format!("stderr of -o {format} reports everything"), true, reported(&ran, format))?;
        same("words of stderr on stdout", false, ran.stdout.contains("duplicate key"))?;
    }
    let json: Value = serde_json::from_str(&ran("json")?.stdout).map_err(|e| e.to_string())?;
    same("errors", Some(2), json["errors"].as_array().map(Vec::len))?;
    for line in ran("patch")?.stdout.lines() {
        serde_json::from_str::<Value>(line).map_err(|e| format!("-o patch: {e}: {line}"))?;
    }
    let yaml = ran("yaml")?.stdout;
    let kinds: Vec<Value> = crate::support::round_trip::documents(yaml.as_bytes())
        .into_iter()
        .map(|(_, d)| d["kind"].clone())
        .collect();
    same(
        "documents of -o yaml",
        vec!["FabricProfile", "Pod", "ConfigMap", "FabricProfile", "Pod"],
        kinds.iter().filter_map(Value::as_str).collect(),
    )
}

/// `| head -1`: the reader goes away in the middle of a large output.
fn closed_pipe() -> Result<(), String> {
    let many = vec![pod("p", "").replace("SIZE", "1Gi"); 4000].join("---\n");
    let scratch = Scratch::new()?;
    scratch.write("many.yaml", many)?;
    for format in FORMATS {
        let mut child = Command::new(binary())
            .args(["review", "-o", format, "many.yaml"])
            .current_dir(scratch.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let mut first = [0; 64];
        let mut pipe = child.stdout.take().ok_or("no stdout")?;
        pipe.read(&mut first).map_err(|e| e.to_string())?;
        drop(pipe);
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        same(&format!("stderr of -o {format}"), "", String::from_utf8_lossy(&output.stderr).as_ref())?;
        same(&format!("exit code of -o {format}"), Some(0), output.status.code())?;
    }
    Ok(())
}

fn site(spec: &str) -> String {
    format!(
        "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: site}}\nspec:\n{spec}"
    )
}

/// Told with its place, as a file of `--profiles` and as one of the inputs.
fn broken_profile(spec: &str, place: &str, words: &str) -> Result<(), String> {
    let scratch = inputs()?;
    scratch.write("site.yaml", site(spec))?;
    for args in [&["review", "--profiles", "site.yaml", "clean.yaml"][..], &["review", "site.yaml"]] {
        let ran = run(args, b"", scratch.path())?;
        same("exit code", 2, ran.code)?;
        let start = format!("error: site.yaml:{place}: ");
        let line = ran.stderr.lines().find(|l| l.starts_with(&start));
        let line = line.ok_or_else(|| format!("no line {start:?}: {}", ran.stderr))?;
        same(&format!("{words:?} in {line:?}"), true, line.contains(words))?;
    }
    Ok(())
}

/// A broken set of profiles ends the run, with all its faults: what pods would get without it says nothing.
fn all_or_none() -> Result<(), String> {
    let scratch = inputs()?;
    scratch.write(
        "profiles/a.yaml",
        site("  transport: roce\n  attachment: none\n  rials: []\n  priority: high\n"),
    )?;
    scratch.write("profiles/b.yaml", site("  base: roce-sriov\n").replace("name: site", "name: fine"))?;
    scratch.write("profiles/c.yaml", "kind: Pod\n")?;
    let ran = run(&["review", "-o", "json", "--profiles", "profiles", "clean.yaml"], b"", scratch.path())?;
    same("exit code", 2, ran.code)?;
    same("stdout", "", ran.stdout.as_str())?;
    let faults = ran.stderr.lines().filter(|line| line.starts_with("error: profiles/"));
    let places: Vec<&str> =
        faults.filter_map(|line| line.strip_prefix("error: profiles/")?.split(": ").next()).collect();
    same("places", vec!["a.yaml:7:3", "a.yaml:8:3", "c.yaml:1:1"], places)
}

fn gpu_pod(name: &str) -> String {
    pod(name, "    resources: {limits: {nvidia.com/gpu: 2}}\n")
}

/// One line for the run, information for each pod.
fn without_profile() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let pods: Vec<String> =
        ["a", "b", "c"].iter().map(|name| gpu_pod(name).replace("SIZE", "16Gi")).collect();
    scratch.write("pods.yaml", pods.join("---\n"))?;
    let text = run(&["review", "--fail-on", "warning", "pods.yaml"], b"", scratch.path())?;
    same("exit code", 0, text.code)?;
    let lines: Vec<&str> = text.stdout.lines().filter(|line| line.contains("FAB803")).collect();
    let [line] = lines.as_slice() else { return Err(format!("expected one line: {lines:?}")) };
    same(
        "the line",
        true,
        line.starts_with("info FAB803 3 pods match no fabric profile") && line.contains("--profile"),
    )?;
    let review = review(&["pods.yaml".to_owned()], b"", scratch.path())?;
    same("the count", Some(3), review.json["summary"]["withoutProfile"].as_u64())?;
    for result in review.results() {
        let found = &result["findings"][0];
        same(
            "rule and severity",
            (Some("FAB803"), Some("info")),
            (found["rule"].as_str(), found["severity"].as_str()),
        )?;
        same(
            "the fix names a base",
            true,
            found["fix"].as_str().is_some_and(|fix| fix.contains("roce-sriov")),
        )?;
    }
    // The fix works.
    let fixed = run(&["review", "--profile", "roce-sriov", "pods.yaml"], b"", scratch.path())?;
    same("with --profile", false, fixed.stdout.contains("FAB803"))
}

/// Text counts them; JSON has them in any case.
fn verbose() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("pod.yaml", gpu_pod("p").replace(", sizeLimit: SIZE", ""))?;
    let text = |args: &[&str]| run(&[&["review"][..], args, &["pod.yaml"]].concat(), b"", scratch.path());
    let (quiet, all) = (text(&[])?.stdout, text(&["-v"])?.stdout);
    same(
        "without -v",
        (false, true),
        (quiet.contains("FAB505"), quiet.contains("2 notes hidden (-v shows them)")),
    )?;
    same("with -v", (true, false), (all.contains("info FAB505"), all.contains("hidden")))?;
    same("FAB803 of the pod with -v, by rule and at the end", 3, all.matches("FAB803").count())?;
    let review = review(&["pod.yaml".to_owned()], b"", scratch.path())?;
    same("rules of -o json", true, review.rules().contains(&"FAB505".to_owned()))
}

/// A setting that the profile lets the user keep is information, though the rule can be an error.
fn because() -> Result<(), String> {
    let review = review(
        &["--profile", "roce-sriov", "examples/leaderworkerset.yaml"].map(str::to_owned),
        b"",
        root(),
    )?;
    let findings = review.results().iter().flat_map(|r| r["findings"].as_array()).flatten();
    let found = findings.clone().find(|f| f["rule"] == "FAB403").ok_or("no FAB403")?;
    same("because", Some("the profile allows other values"), found["because"].as_str())?;
    let text = run(&["review", "--profile", "roce-sriov", "examples/leaderworkerset.yaml"], b"", root())?;
    same("text", true, text.stdout.contains("info because the profile allows other values"))?;
    let explained = run(&["explain", "FAB403"], b"", root())?;
    same("explain", true, explained.stdout.contains("info: the profile allows other values"))
}
