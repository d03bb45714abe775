//! `docs/doctor.md`, made from the list of checks.

use super::check::{Check, Phase};
use super::checks::CHECKS;
use super::sources::{Pick, Source};
use std::collections::{BTreeMap, BTreeSet};

const HEAD: &str = "# doctor

<!-- Generated from src/engine/doctor by `just docs`; a test keeps it current. -->

For operators who install fabric-admission, or whose pods are not changed. `fabric-admission doctor` reads the cluster,
checks an installation from the API server to the pods, and names a fix for each failure. It changes nothing: the pods
that it creates are dry runs.

```
fabric-admission doctor --pre          # before an installation
fabric-admission doctor --wait 2m      # after it; repeats failed checks for up to two minutes
fabric-admission doctor -o json        # for programs
```

| exit code | meaning |
| --- | --- |
| 0 | no check failed; warnings do not count |
| 1 | a check failed |
| 2 | wrong usage |
| 3 | the API server cannot be reached, or an internal error |

A check has one of four results. `ok`: as it should be. `warning`: something works less well or may fail. `error`:
something does not work. `skipped`: nothing is known, with the reason. A check that could not read its objects is
never `ok`.

The JSON has the schema [doctor-v1.json](schema/doctor-v1.json).
";

const TAIL: &str = "
## Rights

The command uses the account of the kubeconfig. This ClusterRole has the rights for all checks except those of an
installer. Bind it with a ClusterRoleBinding. Two of its rules are sensitive: `secrets` has the server's CA, of which the
command uses only the certificate; `pods` allows to create pods, and the API server has no right for dry runs only.
Without a rule, the checks that need it are skipped.
";

/// The whole page. `examples` has the lines of a failed check by its id.
#[must_use]
pub fn page(examples: &BTreeMap<String, String>) -> String {
    let mut page = HEAD.to_owned();
    let mut section = None;
    for check in CHECKS {
        if section != Some(check.section) {
            page.push_str(&format!("\n## {}\n", check.section.title()));
            section = Some(check.section);
        }
        page.push_str(&describe(check, examples.get(check.id).map(String::as_str).unwrap_or_default()));
    }
    format!("{page}{TAIL}\n```yaml\n{}```\n", role())
}

fn describe(check: &Check, example: &str) -> String {
    let phase = match check.phase {
        Phase::Before => " Only with `--pre`.",
        Phase::After => "",
        Phase::Both => " Also with `--pre`.",
    };
    let needs: Vec<String> =
        check.needs.iter().map(|source| format!("`{} {}`", source.verb(), source.plural)).collect();
    let needs =
        if needs.is_empty() { String::new() } else { format!(" It needs the rights {}.", needs.join(", ")) };
    let retry = if check.retryable { " `--wait` repeats it." } else { "" };
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
pub fn sources(before: Option<bool>) -> Vec<&'static Source> {
    let mut seen = BTreeSet::new();
    let checks = CHECKS.iter().filter(|check| before.is_none_or(|before| check.is_for(before)));
    checks.flat_map(|check| check.needs).copied().filter(|source| seen.insert(source.plural)).collect()
}

/// The rights of all checks as a ClusterRole. Names of objects are not in it where they are in any namespace.
fn role() -> String {
    let mut role = String::from(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: fabric-admission-doctor\nrules:\n",
    );
    let mut rules: BTreeMap<(&str, &str, &[&str]), Vec<&str>> = BTreeMap::new();
    for source in sources(None) {
        let names: &[&str] = if let Pick::Named(names) = source.pick { names } else { &[] };
        rules.entry((source.group, source.verb(), names)).or_default().push(source.plural);
    }
    for ((group, verb, names), plurals) in rules {
        role.push_str(&format!("  - apiGroups: [{group:?}]\n    resources: [{}]\n", plurals.join(", ")));
        // The name of the ConfigMap has a hash.
        if !names.is_empty() && plurals != ["configmaps"] {
            role.push_str(&format!("    resourceNames: [{}]\n", names.join(", ")));
        }
        role.push_str(&format!("    verbs: [{verb}]\n"));
    }
    role.push_str(
        "  # Dry runs. Limit this to the namespaces of tests with a Role instead, where that matters.\n  - apiGroups: [\"\"]\n    \
         resources: [pods]\n    verbs: [create]\n  # The rights of the server.\n  - apiGroups: [authorization.k8s.io]\n    \
         resources: [subjectaccessreviews]\n    verbs: [create]\n  - nonResourceURLs: [/metrics]\n    verbs: [get]\n",
    );
    role
}
