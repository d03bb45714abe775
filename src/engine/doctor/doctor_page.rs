//! `docs/doctor.md`, made from the list of checks.

use super::all_checks::CHECKS;
use super::check_declaration::{Check, Phase};
use super::what_is_read::{Pick, Source, Within};
use std::collections::{BTreeMap, BTreeSet};

const HEAD: &str = "# doctor

<!-- Generated from src/engine/doctor by `just docs`; a test keeps it current. -->

For operators who install fabric-admission, or who look for the reason why their pods are not changed. `fabric-admission
doctor` reads the cluster, checks an installation from the API server to the pods, and names a fix for each failure.
Doctor changes nothing: it creates pods only as dry runs.

```
fabric-admission doctor --pre          # before an installation
fabric-admission doctor --wait 2m      # after an installation; repeats failed checks for up to two minutes
fabric-admission doctor -o json        # for programs
```

| exit code | meaning |
| --- | --- |
| 0 | no check failed (there may be warnings) |
| 1 | a check failed |
| 2 | wrong usage |
| 3 | the API server cannot be reached, or an internal error occurred |

A check has one of four results. `ok` means that the check found no problem. `warning` means that something may fail or
be slow. `error` means that something does not work. `skipped` means that doctor could not run the check; the output
shows the reason. A check that could not read its objects is never `ok`. Three checks are essential: `configurations`,
`pod-is-changed` and `pod-is-refused`. If an essential check cannot read its objects, the result of the check is
`error`. If no namespace has mode `enforce`, or the server runs with `--mutate off`, doctor skips `pod-is-changed` and
`pod-is-refused`. Without `pod-is-changed` and `pod-is-refused`, doctor cannot prove that the API server calls the
webhook, and the last line of the output reports this.

The schema of the JSON output is [doctor-v1.json](schema/doctor-v1.json). The field `success` is true if no check
failed. The field `proved` is true if both dry runs succeeded.
";

const TAIL: &str = "
## Rights

Doctor uses the account of the kubeconfig. The roles below have the rights for all checks, but not the rights to install
fabric-admission. The list has a ClusterRole for the cluster, a Role for the namespace of the installation, and a Role
for the namespace of the dry runs (here `training`). Bind each role to the account. Two rights are sensitive. With the
right to read the Secret `fabric-admission-ca`, the account can read the key of the server's CA, but doctor uses only
the certificate. With `create pods`, the account can also create real pods, because RBAC cannot distinguish real pods
from dry runs. If the account lacks a right, doctor skips the checks that need this right.
";

/// The whole page. `examples` has the lines of a failed check by its id; `facts` the kinds that decisions need, by group
/// and plural.
#[must_use]
pub fn page(examples: &BTreeMap<String, String>, facts: &[(&str, &str)]) -> String {
    let mut page = HEAD.to_owned();
    let mut section = None;
    for check in CHECKS {
        if section != Some(check.section) {
            page.push_str(&format!("\n## {}\n", check.section.title()));
            section = Some(check.section);
        }
        page.push_str(&section_of_check(
            check,
            examples.get(check.id).map(String::as_str).unwrap_or_default(),
        ));
    }
    format!("{page}{TAIL}\n```yaml\n{}```\n", roles_yaml(facts))
}

fn section_of_check(check: &Check, example: &str) -> String {
    let phase = match check.phase {
        Phase::Before => " The check runs only with `--pre`.",
        Phase::After => "",
        Phase::Both => " The check also runs with `--pre`.",
    };
    let needs: Vec<String> =
        check.needs.iter().map(|source| format!("`{} {}`", source.verb(), source.plural)).collect();
    let needs = if needs.is_empty() {
        String::new()
    } else {
        format!(" The check needs the rights {}.", needs.join(", "))
    };
    let retry = if check.retryable { " If the check fails, `--wait` repeats it." } else { "" };
    format!(
        "\n### {}\n\n**{}.**{phase}{retry}{needs}\n\n```\n{example}```\n\n{}\n\n**Fix.** {}\n",
        check.id,
        capital(check.description),
        check.meaning,
        check.fix
    )
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

/// Everything that checks read, each once.
#[must_use]
pub fn sources_of_checks(before: Option<bool>) -> Vec<&'static Source> {
    let mut seen = BTreeSet::new();
    let checks = CHECKS.iter().filter(|check| before.is_none_or(|before| check.is_for(before)));
    checks.flat_map(|check| check.needs).copied().filter(|source| seen.insert(source.plural)).collect()
}

/// The rights of all checks, as roles. `facts`: the kinds that decisions need, by group and plural.
#[must_use]
pub fn roles_yaml(facts: &[(&str, &str)]) -> String {
    let of = |installed: bool| {
        sources_of_checks(None).into_iter().filter(move |s| (s.within == Within::Installation) == installed)
    };
    let mut cluster = rbac_rules_yaml(of(false));
    cluster.push_str("  # Objects of operators and device drivers, which decisions on the dry runs need.\n");
    let mut by_group: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let read = sources_of_checks(None);
    for (group, plural) in
        facts.iter().filter(|(_, plural)| !read.iter().any(|source| source.plural == *plural))
    {
        by_group.entry(group).or_default().push(plural);
    }
    for (group, plurals) in by_group {
        let plurals = plurals.join(", ");
        cluster
            .push_str(&format!("  - apiGroups: [{group}]\n    resources: [{plurals}]\n    verbs: [list]\n"));
    }
    cluster.push_str(
        "  # The rights of the server.\n  - apiGroups: [authorization.k8s.io]\n    resources: [subjectaccessreviews]\n    \
         verbs: [create]\n  - nonResourceURLs: [/metrics]\n    verbs: [get]\n",
    );
    let dry_runs = "  - apiGroups: [\"\"]\n    resources: [pods]\n    verbs: [create]\n";
    let role = |kind: &str, namespace: &str, rules: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: fabric-admission-doctor\n{namespace}\
             rules:\n{rules}"
        )
    };
    [
        role("ClusterRole", "", &cluster),
        role("Role", "  namespace: fabric-admission\n", &rbac_rules_yaml(of(true))),
        role("Role", "  namespace: training\n", dry_runs),
    ]
    .join("---\n")
}

fn rbac_rules_yaml(sources: impl Iterator<Item = &'static Source>) -> String {
    let mut by_names: BTreeMap<(&str, &str, &[&str]), Vec<&str>> = BTreeMap::new();
    for source in sources {
        // The name of the ConfigMap has a hash.
        let names: &[&str] = match source.pick {
            Pick::Named(names) if source.plural != "configmaps" => names,
            _ => &[],
        };
        by_names.entry((source.group, source.verb(), names)).or_default().push(source.plural);
    }
    let mut rules = String::new();
    for ((group, verb, names), plurals) in by_names {
        rules.push_str(&format!("  - apiGroups: [{group:?}]\n    resources: [{}]\n", plurals.join(", ")));
        if !names.is_empty() {
            rules.push_str(&format!("    resourceNames: [{}]\n", names.join(", ")));
        }
        rules.push_str(&format!("    verbs: [{verb}]\n"));
    }
    rules
}
