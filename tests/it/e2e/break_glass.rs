//! The commands of deploy/README.md that stop the webhook, its changes or all of it, as they stand there, and what becomes of
//! pods then. The server is away in the meantime: that is when somebody needs them.

use super::support::plane::{Kubectl, Plane};
use super::support::site::{PROFILE_LABEL, Site, rendered, training_pod};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use crate::support::{read, root};
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "break_glass_commands_admit_pods_within_seconds", stop);
    trial(suite, assets, "commands_on_the_deployment_do_what_they_say", deployment);
    trial(suite, assets, "removal_is_one_command", removal);
    trial(suite, assets, "a_label_that_is_just_set_counts_within_seconds", label);
}

/// How long the API server may take to follow a change of a label or a configuration.
const SECONDS: Duration = Duration::from_secs(10);

/// A command of the README that contains a text, without its comment, as arguments of kubectl.
fn command(part: &str) -> Result<Vec<String>, String> {
    let page = read(&root().join("deploy/README.md"))?.replace("\\\n", " ");
    let lines = page.lines().map(|line| line.split(" #").next().unwrap_or_default().trim());
    let in_text = page.split('`').filter(|text| !text.contains('\n'));
    let mut found = lines.chain(in_text).filter(|text| text.starts_with("kubectl ") && text.contains(part));
    let found = found.next().ok_or_else(|| format!("no command with {part:?} in deploy/README.md"))?;
    Ok(found.split_whitespace().skip(1).map(str::to_owned).collect())
}

fn run(plane: &Plane, args: &[String]) -> Result<(), String> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = plane.kubectl(&args, "")?;
    if done.ok { Ok(()) } else { Err(format!("{args:?}: {}", done.stderr)) }
}

/// The time until a training pod is admitted without any change.
fn admitted(plane: &Plane, namespace: &str) -> Result<Duration, String> {
    let start = Instant::now();
    plane.until("pods are admitted", SECONDS, || Ok(create(plane, namespace)?.ok))?;
    Ok(start.elapsed())
}

fn create(plane: &Plane, namespace: &str) -> Result<Kubectl, String> {
    let args = ["create", "-n", namespace, "-f", "-", "--dry-run=server"];
    plane.kubectl(&args, &training_pod("p").to_string())
}

fn is_refused(plane: &Plane, namespace: &str) -> Result<bool, String> {
    let created = create(plane, namespace)?;
    Ok(!created.ok && created.stderr.contains("failed calling webhook"))
}

pub(super) fn stop(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    site.point(|_| false)?;
    let (one, other) = (plane.namespace(&[PROFILE_LABEL])?, plane.namespace(&[PROFILE_LABEL])?);
    assert!(is_refused(plane, &one)?);
    let of_one: Vec<String> = command("fabric-admission.dev/mode-")?
        .into_iter()
        .map(|word| if word == "training" { one.clone() } else { word })
        .collect();
    assert!(of_one.contains(&one), "{of_one:?}");
    run(plane, &of_one)?;
    eprintln!("admitted {:?} after the label was removed", admitted(plane, &one)?);
    assert!(is_refused(plane, &other)?);
    run(plane, &command("delete mutatingwebhookconfiguration")?)?;
    eprintln!("admitted {:?} after the configurations were deleted", admitted(plane, &other)?);
    Ok(())
}

/// The switch for changes and the way back, on the Deployment as it is rendered.
fn deployment(plane: &Plane) -> Outcome {
    plane.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: fabric-admission}\n")?;
    for object in rendered(plane, "base")?.into_iter().filter(|o| o["kind"] == "Deployment") {
        plane.apply(&object.to_string())?;
    }
    let name = ["deployment", "fabric-admission", "-n", "fabric-admission"];
    let switched = || {
        Ok::<_, String>(
            plane.get(&name)?.to_string().contains(r#"{"name":"FABRIC_ADMISSION_MUTATE","value":"off"}"#),
        )
    };
    assert!(!switched()?);
    run(plane, &command("FABRIC_ADMISSION_MUTATE=off")?)?;
    assert!(switched()?, "{}", plane.get(&name)?);
    if plane.has_controllers {
        // The controller notes each revision.
        plane.until("there are two revisions", Duration::from_secs(30), || {
            Ok(plane.get(&["replicasets", "-n", "fabric-admission"])?["items"]
                .as_array()
                .is_some_and(|all| all.len() >= 2))
        })?;
        run(plane, &command("rollout undo")?)?;
        assert!(!switched()?, "{}", plane.get(&name)?);
    }
    plane.kubectl(&["delete", "deployment", "fabric-admission", "-n", "fabric-admission"], "")?;
    Ok(())
}

fn removal(plane: &Plane) -> Outcome {
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let base = root().join("deploy/base").to_string_lossy().into_owned();
    plane.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: fabric-admission}\n")?;
    let applied = plane.kubectl(&["apply", "--server-side", "--force-conflicts", "-k", &base], "")?;
    assert!(applied.ok, "{}", applied.stderr);
    // Behind the Service of the files there is no server.
    plane.until("pods are refused", SECONDS, || is_refused(plane, &namespace))?;
    let removal: Vec<String> = command("delete -k deploy/base")?
        .into_iter()
        .map(|word| if word == "deploy/base" { base.clone() } else { word })
        .chain(["--wait=false".to_owned()])
        .collect();
    run(plane, &removal)?;
    admitted(plane, &namespace)?;
    let left = plane.kubectl(
        &[
            "get",
            "validatingwebhookconfigurations,mutatingwebhookconfigurations,clusterroles,clusterrolebindings",
            "-o",
            "name",
        ],
        "",
    )?;
    let left: Vec<&str> = left.stdout.lines().filter(|line| line.contains("fabric-admission")).collect();
    assert!(left.is_empty(), "{left:?}");
    // Other trials use it again.
    plane.until("the namespace is gone", Duration::from_secs(60), || {
        Ok(!plane.has_controllers || !plane.kubectl(&["get", "namespace", "fabric-admission"], "")?.ok)
    })?;
    Ok(())
}

fn label(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[])?;
    assert!(site.create(&namespace, &training_pod("before"), &[])?.ok);
    run(plane, &["label", "namespace", &namespace, "fabric-admission.dev/mode=enforce"].map(str::to_owned))?;
    let start = Instant::now();
    plane.until("pods are changed", SECONDS, || {
        let made = plane.kubectl(
            &["create", "--dry-run=server", "-o", "json", "-n", &namespace, "-f", "-"],
            &training_pod("p").to_string(),
        )?;
        Ok(made.ok && made.stdout.contains("sriov-rdma-network@rail7"))
    })?;
    eprintln!("the label counted {:?} after it was set", start.elapsed());
    Ok(())
}
