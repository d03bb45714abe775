//! `explain fabric-admission.dev/profile`.

use super::rule::wrapped;
use crate::cli::{Exit, terminal_width};
use crate::facts::{MODE_LABEL, PROFILE_ANNOTATION};
use crate::multus::{
    DEFAULT_NETWORK_ANNOTATION, NETWORKS_ANNOTATION, NODE_SELECTOR_ANNOTATION, RESOURCE_ANNOTATION,
};
use crate::report::terminal_lines;
use crate::rules;
use std::io::{self, Write};

/// An annotation or a label that a reader of a manifest meets.
pub(super) struct Annotation {
    /// Its key, or the start of its key.
    name: &'static str,
    /// The rest of a key that has a variable part.
    rest: &'static str,
    /// The objects that have it.
    on: &'static str,
    /// An example of a value.
    value: &'static str,
    what: &'static str,
    rules: &'static [&'static str],
}

static ALL: [Annotation; 14] = [
    Annotation {
        name: PROFILE_ANNOTATION,
        rest: "",
        on: "pod, pod template or Namespace",
        value: "h100-roce",
        what: "Names the FabricProfile of the pod. The profile must admit the namespace. On a Namespace it is the default for pods \
               that match no other profile.",
        rules: &["FAB804", "FAB806"],
    },
    Annotation {
        name: "fabric-admission.dev/inject",
        rest: "",
        on: "pod or pod template",
        value: "\"false\"",
        what: "\"false\": the webhook adds nothing, and the rules still apply. \"full\": the webhook adds the profile's networks and \
               units beside those of another fabric.",
        rules: &["FAB805", "FAB816"],
    },
    Annotation {
        name: "fabric-admission.dev/containers",
        rest: "",
        on: "pod or pod template",
        value: "trainer,evaluator",
        what: "The only containers that the webhook changes. Each must exist and request accelerators.",
        rules: &["FAB814"],
    },
    Annotation {
        name: "fabric-admission.dev/rails",
        rest: "",
        on: "pod or pod template",
        value: "half",
        what: "A subset of the profile's rails, which the profile defines by name.",
        rules: &["FAB810"],
    },
    Annotation {
        name: "fabric-admission.dev/ranks",
        rest: "",
        on: "pod or pod template",
        value: "ssh",
        what: "Ranks start over ssh, so they do not inherit the container's variables.",
        rules: &["FAB405"],
    },
    Annotation {
        name: "fabric-admission.dev/multi-node",
        rest: "",
        on: "pod or pod template",
        value: "\"true\"",
        what: "Whether the pod communicates with pods on other nodes, where its owner does not show it.",
        rules: &["FAB805"],
    },
    Annotation {
        name: "fabric-admission.dev/ignore.",
        rest: "FABnnn",
        on: "any object or pod template with the finding",
        value: "\"the loader shares nothing\"",
        what: "Ignores the findings of one rule on this object. The value is the reason and must not be empty. Errors can be \
               ignored only where the profile or --ignorable allows this.",
        rules: &["FAB815"],
    },
    Annotation {
        name: "fabric-admission.dev/injected",
        rest: "",
        on: "pod",
        value: "h100-roce@b89ff6ed2386045a",
        what: "Written by the webhook: the profile, and the fingerprint of its settings. The webhook never trusts it as input.",
        rules: &[],
    },
    Annotation {
        name: "fabric-admission.dev/file.",
        rest: "NAME",
        on: "pod",
        value: "the text of the file",
        what: "Written by the webhook: a small file of the profile, which a downward API volume mounts into the containers.",
        rules: &["FAB406"],
    },
    Annotation {
        name: MODE_LABEL,
        rest: "",
        on: "Namespace (a label)",
        value: "enforce",
        what: "Opts the namespace in. \"enforce\": the webhook changes and denies pods. \"audit\": the webhook only reports. With any \
               other value, the API server does not call the webhook.",
        rules: &["FAB817"],
    },
    Annotation {
        name: NETWORKS_ANNOTATION,
        rest: "",
        on: "pod or pod template",
        value: "fabric/rail@net1,fabric/rail@net2",
        what: "The networks that Multus attaches: names with commas, or a JSON array of objects. The namespace before '/' defaults \
               to the pod's own.",
        rules: &["FAB101", "FAB105", "FAB106", "FAB108"],
    },
    Annotation {
        name: DEFAULT_NETWORK_ANNOTATION,
        rest: "",
        on: "pod or pod template",
        value: "kube-system/cluster-network",
        what: "Replaces the cluster's own network for this pod. Multus refuses an empty value.",
        rules: &["FAB109"],
    },
    Annotation {
        name: RESOURCE_ANNOTATION,
        rest: "",
        on: "NetworkAttachmentDefinition",
        value: "openshift.io/rails",
        what: "The extended resource of the network's device. Each attachment takes one unit that the pod's containers request.",
        rules: &["FAB110", "FAB202"],
    },
    Annotation {
        name: NODE_SELECTOR_ANNOTATION,
        rest: "",
        on: "NetworkAttachmentDefinition",
        value: "pool=h100",
        what: "The nodes that have the network. Multus itself does not read it; network-resources-injector adds it to pods.",
        rules: &["FAB104"],
    },
];

/// The keys, as a reader writes them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|annotation| annotation.name)
}

/// An annotation by its key; also by one with a variable part.
pub(super) fn find(key: &str) -> Option<&'static Annotation> {
    let key = key.split(['=', ' ']).next().unwrap_or_default().trim_end_matches(':');
    ALL.iter().find(|a| if a.rest.is_empty() { a.name == key } else { key.starts_with(a.name) })
}

pub(super) fn explain(annotation: &Annotation, out: &mut dyn Write) -> io::Result<Exit> {
    let Annotation { name, rest, on, value, what, rules } = annotation;
    writeln!(out, "{name}{rest} (on: {on})\n\n{}\n\nExample\n  {name}{rest}: {value}", wrapped(what))?;
    write_rules_with_summaries(rules, out)?;
    Ok(Exit::Clean)
}

/// Lists rules with their summaries.
pub(super) fn write_rules_with_summaries(ids: &[&str], out: &mut dyn Write) -> io::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nRules")?;
    for rule in ids.iter().filter_map(|id| rules::find_rule(id)) {
        let summary = terminal_lines::without_backticks(&rule.page().summary);
        writeln!(
            out,
            "  {}  {}",
            rule.id,
            terminal_lines::wrapped(&summary, 10, 10, terminal_width::width())
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_exist_and_keys_are_found() {
        for annotation in &ALL {
            assert!(
                find(&format!("{}{}", annotation.name, annotation.rest)).is_some(),
                "{}",
                annotation.name
            );
            for id in annotation.rules {
                assert!(rules::find_rule(id).is_some(), "{id}");
            }
        }
        assert!(find("fabric-admission.dev/ignore.FAB501: x").is_some());
        assert!(find("fabric-admission.dev/profil").is_none());
    }
}
