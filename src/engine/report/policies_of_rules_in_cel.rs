//! The rules that one object shows, as ValidatingAdmissionPolicies with their bindings
//! (`admissionregistration.k8s.io/v1`): what is left of us while we are down. The API server judges them by itself.

use crate::facts::EnforcementMode;
use crate::pod::AcceleratorNames;
use crate::pod::nic_resource_names::is_verbs_device_in_cel;
use crate::rules::rules_in_cel::{
    self, Cel, CelCheck, CelCondition, OBJECT_VARIABLES, POD_SCOPE, POD_VARIABLES,
};
use crate::rules::{MayBeIgnored, Rule, Severity};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Namespaces that are never ours, whatever their labels; as in deploy/base/webhooks.yaml.
const NAMESPACES_NEVER_MATCHED: [&str; 4] =
    ["kube-system", "kube-public", "kube-node-lease", "fabric-admission"];
/// `metadata.labels` of everything that is made here, so that it can be deleted together.
const PART: (&str, &str) = ("app.kubernetes.io/part-of", "fabric-admission");

/// Lists and maps that CEL evaluates quickly. The time grows by the square of the length (measured on Kubernetes 1.36: half a
/// second for each policy and 2,000 containers, and half a minute for 50,000 arguments), and nobody writes pods of that size.
///
/// Lists and maps with keys make the conversion slow, too (a field for each key in `managedFields`).
const CEL_LIST_BOUNDS: &str = "object.metadata.?labels.orValue({}).size() + object.metadata.?annotations.orValue({}).size() +\n\
                      object.spec.?tolerations.orValue([]).size() + object.spec.?hostAliases.orValue([]).size() +\n\
                      object.spec.?imagePullSecrets.orValue([]).size() <= 2000 &&\n\
                      object.spec.?containers.orValue([]).size() <= 100 &&\n\
                      object.spec.?initContainers.orValue([]).size() <= 100 &&\n\
                      object.spec.?volumes.orValue([]).size() <= 200 &&\n\
                      [object.spec.?containers.orValue([]), object.spec.?initContainers.orValue([])].all(list,\n\
                      list.map(c, c.?command.orValue([]).size() + c.?args.orValue([]).size() +\n\
                      c.?env.orValue([]).size() + c.?volumeMounts.orValue([]).size() + c.?ports.orValue([]).size() +\n\
                      c.?resources.?limits.orValue({}).size() +\n\
                      c.?securityContext.?capabilities.?add.orValue([]).size()).sum() <= 3000 && list.all(c,\n\
                      c.?command.orValue([]).size() + c.?args.orValue([]).size() <= 400 &&\n\
                      c.?env.orValue([]).size() <= 400 &&\n\
                      c.?volumeMounts.orValue([]).size() <= 200 &&\n\
                      c.?resources.?limits.orValue({}).size() <= 64 &&\n\
                      c.?securityContext.?capabilities.?add.orValue([]).size() <= 64))";

/// What is chosen for the policies as a whole.
#[derive(Debug, Clone, Copy)]
pub struct PolicyOptions<'a> {
    /// What puts a pod in scope.
    pub accelerators: &'a AcceleratorNames,
    /// Whether errors of network objects deny.
    pub network_objects: EnforcementMode,
}

/// Policies and bindings of some rules: one policy for the errors of pods and one for their warnings, and one for each rule on
/// other objects, with its bindings beside it.
///
/// For each policy, the API server converts the whole object up to three times (k8s.io/apiserver pkg/admission/plugin/cel,
/// `newActivation`), and half a second each time for a pod of 60,000 ports. So all rules on pods share their policies.
#[must_use]
pub fn policies_and_bindings_of_rules(rules: &[&Rule], choice: PolicyOptions<'_>) -> Vec<Value> {
    let known: Vec<(&Rule, Cel)> = rules.iter().filter_map(|rule| Some((*rule, rule.cel()?))).collect();
    let (of_pods, of_objects): (Vec<_>, Vec<_>) = known.iter().partition(|(rule, _)| rule.kinds.is_empty());
    let mut out = Vec::new();
    for severity in [Severity::Error, Severity::Warning] {
        push_policy_of_pods(&of_pods, severity, choice, &mut out);
    }
    for (rule, cel) in of_objects {
        for severity in [Severity::Error, Severity::Warning] {
            push_policy_of_objects(rule, cel, severity, choice, &mut out);
        }
    }
    out
}

fn checks_of_severity(cel: &Cel, severity: Severity) -> impl Iterator<Item = &CelCheck> {
    cel.checks.iter().filter(move |check| check.severity == severity)
}

fn push_policy_of_pods(
    rules: &[&(&Rule, Cel)],
    severity: Severity,
    choice: PolicyOptions<'_>,
    out: &mut Vec<Value>,
) {
    let mut variables: Vec<(String, String)> = POD_VARIABLES
        .iter()
        .map(|(name, text)| ((*name).to_owned(), fill(text, choice.accelerators)))
        .collect();
    let mut validations = Vec::new();
    let mut annotations = BTreeMap::new();
    let mut ids = Vec::new();
    for (rule, cel) in rules {
        let checks: Vec<_> = checks_of_severity(cel, severity).collect();
        if checks.is_empty() {
            continue;
        }
        ids.push(rule.id);
        annotations
            .extend(cel.beyond.map(|b| (format!("fabric-admission.dev/beyond.{}", rule.id), b.to_owned())));
        for (name, text) in &cel.variables {
            // Rules that share a variable mean the same by it.
            if variables.iter().all(|(known, _)| known != name) {
                variables.push(((*name).to_owned(), fill(text, choice.accelerators)));
            }
        }
        validations.extend(checks.into_iter().map(|check| validation(rule, check, choice.accelerators)));
    }
    if validations.is_empty() {
        return;
    }
    annotations.insert("fabric-admission.dev/rules".to_owned(), ids.join(","));
    let scope = format!(
        "{CEL_LIST_BOUNDS} &&\n({})",
        without_variables(&fill(POD_SCOPE, choice.accelerators), &variables)
    );
    let spec = json!({
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": [resource_rule("", "v1", &["CREATE"], &["pods"])]},
        "matchConditions": [{"name": "in-scope-and-not-beyond-all-bounds", "expression": scope}],
        "variables": only_used(&variables, &validations),
        "validations": validations,
    });
    let stem = if severity == Severity::Error { "pod-errors" } else { "pod-warnings" };
    let namespaces: Vec<_> = [EnforcementMode::Enforce, EnforcementMode::Audit]
        .map(|mode| {
            let ours =
                json!({"key": "fabric-admission.dev/mode", "operator": "In", "values": [word_of_mode(mode)]});
            (mode, vec![ours, never_matched()])
        })
        .into();
    push_policy_and_bindings(stem, severity, (annotations, spec), &namespaces, out);
}

fn push_policy_of_objects(
    rule: &Rule,
    cel: &Cel,
    severity: Severity,
    choice: PolicyOptions<'_>,
    out: &mut Vec<Value>,
) {
    let validations: Vec<_> =
        checks_of_severity(cel, severity).map(|check| validation(rule, check, choice.accelerators)).collect();
    if validations.is_empty() {
        return;
    }
    let known = OBJECT_VARIABLES.iter().map(|(name, text)| (*name, *text));
    let own = cel.variables.iter().map(|(name, text)| (*name, &**text));
    let mut variables: Vec<(String, String)> =
        known.chain(own).map(|(name, text)| (name.to_owned(), fill(text, choice.accelerators))).collect();
    let old: Vec<_> = variables.iter().map(|(name, text)| (format!("{name}Before"), before(text))).collect();
    variables.extend(old);
    let spec = json!({
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": resources(rule)},
        "matchConditions": conditions(rule),
        "variables": only_used(&variables, &validations),
        "validations": validations,
    });
    let summary = ("fabric-admission.dev/summary".to_owned(), rule.page().summary.to_string());
    let beyond = cel.beyond.map(|b| ("fabric-admission.dev/beyond".to_owned(), b.to_owned()));
    let annotations = [summary].into_iter().chain(beyond).collect();
    let stem = match severity == rule.severity {
        true => rule.id.to_lowercase(),
        false => format!("{}-{severity}", rule.id.to_lowercase()),
    };
    let namespaces = [(choice.network_objects, vec![never_matched()])];
    push_policy_and_bindings(&stem, severity, (annotations, spec), &namespaces, out);
}

/// A policy, and a binding to the namespaces of each mode.
fn push_policy_and_bindings(
    stem: &str,
    severity: Severity,
    (annotations, spec): (BTreeMap<String, String>, Value),
    namespaces: &[(EnforcementMode, Vec<Value>)],
    out: &mut Vec<Value>,
) {
    let name = format!("{stem}.fabric-admission.dev");
    out.push(policy_or_binding("ValidatingAdmissionPolicy", &name, annotations, spec));
    for (mode, expressions) in namespaces {
        let actions = match (mode, severity) {
            (EnforcementMode::Enforce, Severity::Error) => json!(["Deny"]),
            _ => json!(["Warn", "Audit"]),
        };
        let spec = json!({
            "policyName": name,
            "validationActions": actions,
            "matchResources": {"namespaceSelector": {"matchExpressions": expressions}},
        });
        let name = format!("{stem}.{}.fabric-admission.dev", word_of_mode(*mode));
        out.push(policy_or_binding("ValidatingAdmissionPolicyBinding", &name, BTreeMap::new(), spec));
    }
}

fn word_of_mode(mode: EnforcementMode) -> &'static str {
    if mode == EnforcementMode::Enforce { "enforce" } else { "audit" }
}

fn never_matched() -> Value {
    json!({"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": NAMESPACES_NEVER_MATCHED})
}

/// An expression in which each variable is replaced by what it means; matchConditions have none.
fn without_variables(text: &str, variables: &[(String, String)]) -> String {
    // What a variable uses stands before it.
    variables.iter().rev().fold(text.to_owned(), |text, (name, meaning)| {
        text.replace(&format!("variables.{name}"), &format!("({meaning})"))
    })
}

/// An expression with what is the same in many filled in.
fn fill(text: &str, accelerators: &AcceleratorNames) -> String {
    text.replace(
        "{accelerated}",
        &rules_in_cel::container_requests_resource(&accelerators.is_accelerator_in_cel()),
    )
    .replace("{rdma}", &rules_in_cel::container_requests_resource(&is_verbs_device_in_cel()))
    .replace("{accelerator}", &accelerators.is_accelerator_in_cel())
    .replace("{whole}", &accelerators.is_whole_accelerator_in_cel())
}

/// Maximum of names in a message.
const MAX_NAMES_IN_MESSAGE: usize = 50;

fn validation(rule: &Rule, check: &CelCheck, accelerators: &AcceleratorNames) -> Map<String, Value> {
    let message = format!("{} {}", rule.id, check.message);
    let (wrong, named) = match &check.wrong {
        CelCondition::Object(wrong) => (fill(wrong, accelerators), None),
        CelCondition::Containers(wrong) => {
            among("variables.containers", "c", "c.name", &fill(wrong, accelerators))
        }
        CelCondition::Annotations(wrong) => {
            // The API server searches keys in time by the square of their number: 32,000 take 4 s.
            let few = "(variables.annotations.size() > 1000 ? {} : variables.annotations)";
            among(few, "k", "k", &fill(wrong, accelerators))
        }
    };
    let expression = match (rule.kinds.is_empty(), rule.waiver) {
        (true, MayBeIgnored::Allowed) => {
            format!("variables.annotations[?{}].orValue('').trim() != '' ||\n!({wrong})", waiver_in_cel(rule))
        }
        (true, _) => format!("!({wrong})"),
        // An update is refused for what it brings, not for what was there already.
        (false, _) => format!("!({wrong}) ||\nrequest.operation == 'UPDATE' && ({})", before(&wrong)),
    };
    let mut out = Map::new();
    out.insert("expression".to_owned(), expression.into());
    if let Some(named) = named {
        out.insert(
            "messageExpression".to_owned(),
            format!("{} +\n{named}", rules_in_cel::cel_literal(&message)).into(),
        );
    }
    out.insert("message".to_owned(), message.into());
    out
}

/// Whether something is true of any of a list, and the names of those for the end of a message.
fn among(list: &str, each: &str, name: &str, wrong: &str) -> (String, Option<String>) {
    let named = format!(
        "({list}.size() > {MAX_NAMES_IN_MESSAGE} ? '' : ' (' + {list}.filter({each}, {wrong}).map({each}, {name}).join(', ') + ')')"
    );
    // A map's `filter` gives its keys, which need no further name.
    let named = named.replace(&format!(".map({name}, {name})"), "");
    (format!("{list}.exists({each}, {wrong})"), Some(named))
}

/// What a binding matches that is for pods of enforcing namespaces.
pub(super) fn match_enforcing_namespaces() -> Value {
    let ours = json!({"key": "fabric-admission.dev/mode", "operator": "In", "values": ["enforce"]});
    json!({"namespaceSelector": {"matchExpressions": [ours, never_matched()]}})
}

/// A policy or a binding.
pub(super) fn policy_or_binding(
    kind: &str,
    name: &str,
    annotations: BTreeMap<String, String>,
    spec: Value,
) -> Value {
    let (key, value) = PART;
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), name.into());
    metadata.insert("labels".to_owned(), json!({key: value}));
    if !annotations.is_empty() {
        metadata.insert("annotations".to_owned(), json!(annotations));
    }
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec})
}

/// An expression on the object as it was.
fn before(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("object.").into_iter().chain(rest.find("variables.")).min() {
        let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(head);
        if let Some(tail) = tail.strip_prefix("object.") {
            out.push_str("oldObject.");
            rest = tail;
        } else {
            let tail = tail.strip_prefix("variables.").unwrap_or(tail);
            let end = tail.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tail.len());
            let (name, tail) = tail.split_at_checked(end).unwrap_or((tail, ""));
            out.push_str(&format!("variables.{name}Before"));
            rest = tail;
        }
    }
    out + rest
}

/// The variables that the validations need, as a policy has them.
fn only_used(variables: &[(String, String)], validations: &[Map<String, Value>]) -> Vec<Value> {
    used(variables, validations)
        .into_iter()
        .map(|(name, expression)| json!({"name": name, "expression": expression}))
        .collect()
}

/// The variables that the validations need, in their order.
fn used(variables: &[(String, String)], validations: &[Map<String, Value>]) -> Vec<(String, String)> {
    let names = |text: &str, name: &str| {
        let whole = |(at, found): (usize, &str)| {
            let next = text.get(at + found.len()..).and_then(|t| t.chars().next());
            !next.is_some_and(|c| c.is_ascii_alphanumeric())
        };
        text.match_indices(&format!("variables.{name}")).any(whole)
    };
    let mut texts: Vec<&str> = Vec::new();
    for validation in validations {
        let keys = ["expression", "messageExpression"];
        texts.extend(keys.iter().filter_map(|key| validation.get(*key).and_then(Value::as_str)));
    }
    let mut kept = Vec::new();
    // What a variable uses stands before it.
    for variable in variables.iter().rev() {
        if texts.iter().any(|text| names(text, &variable.0)) {
            texts.push(&variable.1);
            kept.push(variable.clone());
        }
    }
    kept.reverse();
    kept
}

/// The annotation that sets a rule aside. It is believed: whether the profile allows it is not known here, and the webhook that
/// knows refuses it.
fn waiver_in_cel(rule: &Rule) -> String {
    rules_in_cel::cel_literal(&format!("fabric-admission.dev/ignore.{}", rule.id))
}

/// The conditions of a policy on objects other than pods. A policy does not check an update that changes only metadata.
fn conditions(rule: &Rule) -> Vec<Value> {
    let mut out = Vec::new();
    if rule.waiver == MayBeIgnored::Allowed {
        let key = waiver_in_cel(rule);
        let text = format!(
            "!has(object.metadata.annotations) || !({key} in object.metadata.annotations) ||\nobject.metadata.annotations[{key}].trim() == ''"
        );
        out.push(json!({"name": "not-set-aside", "expression": text}));
    }
    out.push(json!({
        "name": "spec-has-changed",
        "expression": "request.operation == 'CREATE' ||\nhas(object.spec) != has(oldObject.spec) || (has(object.spec) && object.spec != oldObject.spec)",
    }));
    out
}

/// What the API server is to ask about.
fn resources(rule: &Rule) -> Vec<Value> {
    let kinds =
        rule.kinds.iter().filter_map(|(group, kind)| Some((group, version_and_plural_of_kind(group, kind)?)));
    kinds
        .map(|(group, (version, plural))| resource_rule(group, version, &["CREATE", "UPDATE"], &[&plural]))
        .collect()
}

pub(super) fn resource_rule(group: &str, version: &str, operations: &[&str], resources: &[&str]) -> Value {
    json!({"apiGroups": [group], "apiVersions": [version], "operations": operations, "resources": resources})
}

/// Version and name in paths of a kind.
fn version_and_plural_of_kind(group: &str, kind: &str) -> Option<(&'static str, String)> {
    let version = match group {
        "k8s.cni.cncf.io" => return Some(("v1", "network-attachment-definitions".to_owned())),
        "" | "sriovnetwork.openshift.io" => "v1",
        "mellanox.com" | "fabric-admission.dev" => "v1alpha1",
        _ => return None,
    };
    let lower = kind.to_lowercase();
    Some((version, lower.strip_suffix('y').map_or_else(|| format!("{lower}s"), |stem| format!("{stem}ies"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_on_the_object_as_it_was() {
        assert_eq!(
            before("object.spec.a == 1 && variables.spec.b in [object.x] && variables.list.exists(v, v > 0)"),
            "oldObject.spec.a == 1 && variables.specBefore.b in [oldObject.x] && variables.listBefore.exists(v, v > 0)"
        );
    }

    #[test]
    fn plurals() {
        let plural = |kind| version_and_plural_of_kind("mellanox.com", kind).map(|(_, plural)| plural);
        assert_eq!(plural("NicClusterPolicy").as_deref(), Some("nicclusterpolicies"));
        assert_eq!(plural("MacvlanNetwork").as_deref(), Some("macvlannetworks"));
    }

    #[test]
    fn only_variables_that_are_used() {
        let all =
            [("a", "1"), ("b", "variables.a + 1"), ("bc", "2")].map(|(n, t)| (n.to_owned(), t.to_owned()));
        let kept = |text: &str| {
            let kept = used(&all, &[Map::from_iter([("expression".to_owned(), json!(text))])]);
            kept.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(kept("variables.b == 1"), "a b");
        assert_eq!(kept("variables.bc == 1"), "bc");
    }
}
