//! Fields of objects as their CRDs have them: keys that the API server drops, values that it refuses, and what was
//! probably meant. One table answers for all kinds (see [`crate::schemas`]).

use super::finding::{FindingsOfRule, Severity};
use super::most_findings_per_rule::MAX_FINDINGS_PER_RULE_AND_SEVERITY;
use super::object_context::ObjectContext;
use crate::schemas::{self, Field, Misfit, MisfitKind, Reader, Takes, misfits};
use crate::text::{escaped_and_cut, nearest_if_probably_meant};
use serde_json::{Map, Value};

/// Names that are used elsewhere for the same thing: the operator's own Go field, and keys of rendered definitions.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("metaPluginsConfig", "metaPlugins"),
    ("link_state", "linkState"),
    ("min_tx_rate", "minTxRate"),
    ("max_tx_rate", "maxTxRate"),
    ("interface_type", "interfaceType"),
    ("rdma", "isRdma"),
];

/// Other words for a value.
const OTHER_WORDS: &[(&str, &str)] = &[("infiniband", "ib"), ("true", "on"), ("false", "off")];

/// Keys of older versions, with what to do.
const RETIRED: &[(&str, &str, &str)] = &[(
    "SpiderMultusConfig",
    "enableRdma",
    "Remove the field. To move the RDMA device into the pod, set rdmaIsolation.",
)];

/// The consequence of a missing key, by kind; any kind where it is empty.
const EFFECTS_OF_MISSING_KEYS: &[(&str, &str, &str)] = &[
    ("SriovNetworkNodePolicy", "isRdma", "the VFs have no RDMA devices"),
    ("SriovNetworkNodePolicy", "pfNames", "the policy selects more NICs than intended"),
    ("SriovNetworkNodePolicy", "rootDevices", "the policy selects more NICs than intended"),
    ("SriovNetworkNodePolicy", "deviceID", "the policy selects more NICs than intended"),
    ("SriovNetworkNodePolicy", "vendor", "the policy selects more NICs than intended"),
    ("SriovNetworkNodePolicy", "deviceType", "the VFs keep the kernel's driver"),
    ("SriovNetworkNodePolicy", "linkType", "the policy matches NICs of either link type"),
    ("SriovNetworkNodePolicy", "mtu", "the operator does not set the MTU"),
    ("SriovNetworkNodePolicy", "eSwitchMode", "the NICs stay in mode legacy"),
    ("SriovNetworkNodePolicy", "externallyManaged", "the operator creates the VFs itself"),
    (
        "SriovNetworkNodePolicy",
        "priority",
        "the policy's priority is 0 or 99, depending on the operator's webhook",
    ),
    ("SriovNetwork", "vlan", "the traffic has no VLAN tag"),
    ("SriovNetwork", "maxTxRate", "the VF has no rate limit"),
    ("SriovNetwork", "spoofChk", "the VF keeps the NIC's setting"),
    ("SriovNetwork", "trust", "the VF keeps the NIC's setting"),
    ("MacvlanNetwork", "master", "macvlan uses the interface of the default route"),
    ("MacvlanNetwork", "mode", "macvlan uses mode bridge"),
    ("MacvlanNetwork", "mtu", "the interface gets the MTU of its master"),
    ("MacvlanNetwork", "networkNamespace", "the network is created in namespace default"),
    ("IPoIBNetwork", "networkNamespace", "the network is created in namespace default"),
    ("IPoIBNetwork", "master", "every attachment fails"),
    ("HostDeviceNetwork", "networkNamespace", "the operator creates no network"),
    ("HostDeviceNetwork", "resourceName", "Multus has no device, and every attachment fails"),
    ("", "rdmaSharedDevicePlugin", "no node offers shared RDMA devices"),
    ("", "sriovDevicePlugin", "no node offers the devices"),
    ("", "ofedDriver", "the operator installs no driver"),
    ("NicClusterPolicy", "secondaryNetwork", "the operator installs no CNI plugins"),
    ("NicClusterPolicy", "nvIpam", "the operator installs no nv-ipam"),
    ("IPPool", "gateway", "pods get no gateway"),
    ("CIDRPool", "gatewayIndex", "pods get no gateway"),
    ("", "exclusions", "nv-ipam also assigns the excluded addresses to pods"),
    ("", "perNodeExclusions", "nv-ipam also assigns the excluded addresses to pods"),
    ("", "networkNamespace", "the network is created in the namespace of this object"),
    ("", "ipam", "pods get no address on the network"),
    ("", "metaPlugins", "no chained plugin, such as rdma, is called"),
    ("", "linkState", "the VF's link follows the link of its NIC"),
    ("", "capabilities", "pods cannot set their addresses"),
];

/// What an unknown key was probably meant to be.
#[derive(Debug, PartialEq, Eq)]
enum Meant {
    /// A key of the same mapping, beyond doubt.
    Key(&'static str),
    /// A key of the same mapping that is spelled alike.
    Like(&'static str),
    /// Something else: what to do.
    Otherwise(String),
}

/// What an unknown key of a mapping at `at` was probably meant to be.
fn meaning_of_unknown_key(context: &ObjectContext<'_>, at: &str, key: &str, here: &Field) -> Option<Meant> {
    if let Some(known) = here.keys().find(|known| known.eq_ignore_ascii_case(key)) {
        return Some(Meant::Key(known));
    }
    let other = OTHER_NAMES.iter().find(|(name, known)| *name == key && here.field(known).is_some());
    if let Some((_, known)) = other {
        return Some(Meant::Key(known));
    }
    let retired = RETIRED.iter().find(|(kind, name, _)| (*kind, *name) == (context.kind, key));
    if let Some((_, _, fix)) = retired {
        return Some(Meant::Otherwise((*fix).to_owned()));
    }
    let places =
        || schemas::places_with_key(key).iter().filter(|p| !p.at.is_empty() && p.group == context.group);
    let own: Vec<&str> = places().filter(|p| p.kind == context.kind).map(|p| p.at.as_str()).collect();
    let given = |at: &&&str| context.whole_object().and_then(|v| v.pointer(at)).is_some_and(Value::is_object);
    let mut used = own.iter().filter(given);
    let place = match (own.as_slice(), used.next(), used.next()) {
        ([one], _, _) => Some(*one),
        (_, Some(one), None) => Some(*one),
        _ => None,
    };
    if let Some(place) = place.filter(|place| *place != at) {
        return Some(Meant::Otherwise(format!("Move the field to `{}`.", dotted(place))));
    }
    if let Some(other) = places().find(|p| p.kind != context.kind).filter(|_| own.is_empty()) {
        return Some(Meant::Otherwise(format!("Move the field to a {}.", other.kind)));
    }
    nearest_if_probably_meant(key, here.keys()).map(Meant::Like)
}

fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

/// What happens without a key of a mapping.
fn effect_of_missing_key(context: &ObjectContext<'_>, at: &str, key: &str, here: &Field) -> Option<String> {
    let mapping = context.whole_object()?.pointer(at)?;
    if mapping.get(key).is_some() {
        return None;
    }
    if here.field(key)?.required {
        return Some(format!("the required field {key} is missing, and the API server refuses the object"));
    }
    let of = |kind: &str| EFFECTS_OF_MISSING_KEYS.iter().find(|(k, name, _)| *k == kind && *name == key);
    of(context.kind).or_else(|| of("")).map(|(_, _, words)| (*words).to_owned())
}

/// The values that the CRD of an object does not accept.
fn misfits_with_crd<'c>(context: &'c ObjectContext<'_>) -> Vec<Misfit<'static, 'c>> {
    let Some(schema) = schemas::schema_of_crd(context.group, context.kind) else { return Vec::new() };
    let Some(object) = context.whole_object().and_then(Value::as_object) else { return Vec::new() };
    misfits(&schema.whole, object, Reader::ApiServer, MAX_FINDINGS_PER_RULE_AND_SEVERITY)
}

/// The values that the API server refuses. It has compared an object of its own with the CRD of the cluster, which may be
/// newer than ours.
fn misfits_api_server_refuses<'c>(context: &'c ObjectContext<'_>) -> Vec<Misfit<'static, 'c>> {
    if context.validated {
        return Vec::new();
    }
    let waits = |value: &Value| value.as_str().is_some_and(may_be_placeholder);
    misfits_with_crd(context)
        .into_iter()
        .filter(|m| m.fault != MisfitKind::Unknown && !waits(m.value))
        .collect()
}

/// Whether [`report_refused_values`] reports a value by its pointer.
pub(super) fn is_reported_as_refused(context: &ObjectContext<'_>, pointer: &str) -> bool {
    misfits_api_server_refuses(context).iter().any(|misfit| misfit.pointer == pointer)
}

/// Reports keys that the CRD does not have.
pub(super) fn report_unknown_keys(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for misfit in misfits_with_crd(context).iter().filter(|m| m.fault == MisfitKind::Unknown) {
        let at = misfit.pointer.rsplit_once('/').map_or("", |(at, _)| at);
        let shown = escaped_and_cut(misfit.key, 40);
        let place = match at {
            "" => format!("at the top of the {}", context.kind),
            at => format!("in `{}` of the {}", dotted(at), context.kind),
        };
        let dropped = format!("unknown field `{shown}` {place}: the API server drops this field silently");
        let consequence = |key| match effect_of_missing_key(context, at, key, misfit.field) {
            Some(words) => format!("{dropped}, so {words}"),
            None => dropped.clone(),
        };
        match meaning_of_unknown_key(context, at, misfit.key, misfit.field) {
            Some(Meant::Key(key)) => {
                findings.add(&misfit.pointer, consequence(key), format!("Write `{key}`."));
            }
            Some(Meant::Like(key)) => {
                findings.add(&misfit.pointer, consequence(key), format!("Did you mean `{key}`?"));
            }
            Some(Meant::Otherwise(fix)) => findings.add(&misfit.pointer, dropped, fix),
            // Later versions of the CRD may have it.
            None => findings.add_with_severity(
                Severity::Info,
                &misfit.pointer,
                dropped,
                "Remove the field, or check whether the cluster's CRD has this field.",
            ),
        }
    }
}

/// Reports values that the CRD refuses.
pub(super) fn report_refused_values(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for misfit in &misfits_api_server_refuses(context) {
        let (subject, expected) = (key_and_value_in_words(misfit), accepted_values_in_words(misfit.field));
        // A newer CRD may have more words, but neither an empty nor a misspelled one.
        let new_word = misfit.fault == MisfitKind::Word
            && misfit.value != ""
            && word_meant(misfit.field, misfit.value).is_none();
        let (severity, message) = if new_word {
            let message = format!(
                "{subject}: the API server refuses the object, unless the cluster has a newer CRD that allows this value"
            );
            (Severity::Warning, message)
        } else {
            let message = format!("{subject}, but the API server expects {expected}, and refuses the object");
            (Severity::Error, message)
        };
        findings.add_with_severity(severity, &misfit.pointer, message, fix_sentence(misfit));
    }
}

/// The values that a CNI plugin of a type cannot decode or refuses: pointer, message and fix of each.
pub(super) fn values_plugin_refuses(
    cni_type: &str,
    configuration: &Map<String, Value>,
) -> Vec<(String, String, String)> {
    let Some(field) = schemas::fields_of_plugin("cni", cni_type) else { return Vec::new() };
    let found = misfits(field, configuration, Reader::Go, MAX_FINDINGS_PER_RULE_AND_SEVERITY);
    let reported = found.iter().map(|misfit| {
        let (subject, expected) = (key_and_value_in_words(misfit), expected_instead(misfit));
        let message =
            format!("{subject}, but plugin {cni_type} expects {expected}: pods stay in ContainerCreating");
        // In quotes, true would switch these off: only the word "on" is on (sriov-cni pkg/sriov/sriov.go, ApplyVFConfig).
        let fix = match (misfit.key, misfit.value) {
            ("spoofchk" | "trust", Value::Bool(on)) => {
                format!("Write \"{}\".", if *on { "on" } else { "off" })
            }
            _ => fix_sentence(misfit),
        };
        (misfit.pointer.clone(), message, fix)
    });
    reported.collect()
}

/// Whether a text waits for a template engine or `envsubst`, so that its value is not known.
pub(super) fn may_be_placeholder(text: &str) -> bool {
    text.contains(['$', '<']) || text.contains("{{")
}

/// A value with its key, as a message begins.
pub(super) fn key_and_value_in_words(misfit: &Misfit<'_, '_>) -> String {
    format!("{} is {}", escaped_and_cut(misfit.key, 40), escaped_and_cut(&misfit.value.to_string(), 40))
}

/// What a field accepts, in words. For a string where a boolean belongs, the words say that the quotation marks are wrong:
/// "true" is not true.
fn expected_instead(misfit: &Misfit<'_, '_>) -> String {
    let expected = accepted_values_in_words(misfit.field);
    if misfit.field.takes == Takes::Truth && misfit.value.is_string() {
        return format!("{expected} without quotes");
    }
    expected
}

/// What a field accepts, in words.
pub(super) fn accepted_values_in_words(field: &Field) -> String {
    if !field.words.is_empty() {
        let words: Vec<&str> = field.words.iter().copied().filter(|word| !word.is_empty()).collect();
        return match words.as_slice() {
            [] => "an empty string".to_owned(),
            [one] => (*one).to_owned(),
            [most @ .., last] => format!("{} or {last}", most.join(", ")),
        };
    }
    if let Some(pattern) = field.pattern {
        return pattern.words().to_owned();
    }
    let number = match field.takes {
        Takes::Any => return "any value".to_owned(),
        Takes::Text => return "a string".to_owned(),
        Takes::Truth => return "true or false".to_owned(),
        Takes::WholeOrText => return "a whole number or a string".to_owned(),
        Takes::List => return "a list".to_owned(),
        Takes::Map | Takes::Object => return "a mapping".to_owned(),
        Takes::Whole => "a whole number",
        Takes::Number => "a number",
    };
    match (field.least, field.most) {
        (Some(least), Some(most)) => format!("{number} from {least} to {most}"),
        (Some(least), None) => format!("{number} of at least {least}"),
        (None, Some(most)) => format!("{number} up to {most}"),
        (None, None) => number.to_owned(),
    }
}

/// The word that a value was probably meant to be.
fn word_meant(field: &Field, value: &Value) -> Option<&'static str> {
    let text = match value {
        Value::String(text) => text.to_ascii_lowercase(),
        Value::Bool(truth) => truth.to_string(),
        _ => return None,
    };
    if text.is_empty() {
        return None;
    }
    let words = || field.words.iter().copied().filter(|word| !word.is_empty());
    let same = |wanted: &str| words().find(|word| word.eq_ignore_ascii_case(wanted));
    let alike = |word: &&str| {
        let word = word.to_ascii_lowercase();
        word.starts_with(&text) || text.starts_with(&word)
    };
    // Of two short words each is near the other.
    let near = || nearest_if_probably_meant(&text, words().filter(|word| word.len() > 3));
    let other = || OTHER_WORDS.iter().find(|(other, _)| *other == text).and_then(|(_, word)| same(word));
    same(&text).or_else(other).or_else(|| words().find(alike)).or_else(near)
}

/// The sentence that says what to write instead of a value.
pub(super) fn fix_sentence(misfit: &Misfit<'_, '_>) -> String {
    let (field, value) = (misfit.field, misfit.value);
    if let Some(word) = word_meant(field, value) {
        // YAML reads some bare words as truth values.
        return if value.is_boolean() || matches!(word, "on" | "off") {
            format!("Write \"{word}\", with the quotes.")
        } else {
            format!("Write {word}.")
        };
    }
    let bare = value.as_str().filter(|text| match field.takes {
        Takes::Whole => text.parse::<i64>().is_ok_and(|n| {
            field.least.is_none_or(|least| n >= least) && field.most.is_none_or(|most| n <= most)
        }),
        Takes::Truth => matches!(*text, "true" | "false"),
        _ => false,
    });
    if let Some(text) = bare {
        return format!("Write {text} without quotes.");
    }
    match value {
        Value::String(text) if text.is_empty() => {
            format!("Remove the field, or write {}.", accepted_values_in_words(field))
        }
        // Not the value itself: YAML has read 0x15b3 as 5555, and 0158 as 158.
        Value::Number(_) | Value::Bool(_) if field.takes == Takes::Text && field.words.is_empty() => {
            "Put the value in quotes.".to_owned()
        }
        Value::Array(_) | Value::Object(_) if field.takes == Takes::Text => {
            "Write the value as one string.".to_owned()
        }
        _ => format!("Write {}.", accepted_values_in_words(field)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::as_go_reads::{CNI_FIELDS, DEVICE_PLUGIN_FIELDS};
    use crate::rules::object_context::ObjectEvent;
    use crate::snapshot::Snapshot;
    use serde_json::json;

    const SRIOV: &str = "sriovnetwork.openshift.io";

    /// What is found about a spec: pointer, message and fix.
    fn of(
        check: fn(&ObjectContext<'_>, &mut FindingsOfRule<'_>),
        name: (&str, &str),
        spec: &Value,
    ) -> Vec<(String, String, String)> {
        let (object, snapshot) = (json!({"spec": spec}).to_string(), Snapshot::default());
        let mut found = Vec::new();
        let context = ObjectContext::new(name, &object, ObjectEvent::Given, &snapshot);
        check(&context, &mut FindingsOfRule::new("FAB310", Severity::Error, &mut found));
        found.into_iter().map(|f| (f.path, f.message, f.fix)).collect()
    }

    fn fix(kind: &str, spec: &Value) -> String {
        of(report_unknown_keys, (SRIOV, kind), spec).remove(0).2
    }

    #[test]
    fn what_was_meant() {
        let policy = |spec: Value| fix("SriovNetworkNodePolicy", &spec);
        assert_eq!(policy(json!({"nicSelector": {"pfName": "a"}})), "Did you mean `pfNames`?");
        assert_eq!(policy(json!({"nicSelector": {"deviceId": "a"}})), "Write `deviceID`.");
        assert_eq!(policy(json!({"isRDMA": true})), "Write `isRdma`.");
        assert_eq!(policy(json!({"nodeSelectors": {}})), "Did you mean `nodeSelector`?");
        assert_eq!(policy(json!({"pfNames": []})), "Move the field to `spec.nicSelector`.");
        for key in ["spoofChk", "trust", "linkState", "maxTxRate"] {
            assert_eq!(policy(json!({key: "on"})), "Move the field to a SriovNetwork.", "{key}");
        }
        assert!(policy(json!({"somethingNewEntirely": 1})).starts_with("Remove the field, or check"));
        assert_eq!(fix("SriovNetwork", &json!({"metaPluginsConfig": ""})), "Write `metaPlugins`.");
        assert_eq!(fix("SriovIBNetwork", &json!({"vlan": 1})), "Move the field to a SriovNetwork.");
        assert_eq!(
            fix("SriovNetwork", &json!({"isRdma": true})),
            "Move the field to a SriovNetworkNodePolicy."
        );
        let spider = ("spiderpool.spidernet.io", "SpiderMultusConfig");
        let fixes = |spec| of(report_unknown_keys, spider, &spec).remove(0).2;
        assert_eq!(fixes(json!({"ippools": {}, "sriov": {}})), "Move the field to `spec.sriov`.");
        assert!(fixes(json!({"sriov": {"enableRdma": true}})).starts_with("Remove the field. To move"));
    }

    #[test]
    fn the_consequence_of_a_key_that_is_not_there() {
        let message =
            |spec: Value| of(report_unknown_keys, (SRIOV, "SriovNetworkNodePolicy"), &spec).remove(0).1;
        assert!(message(json!({"isRDMA": true})).ends_with("so the VFs have no RDMA devices"));
        assert!(message(json!({"isRDMA": true, "isRdma": true})).ends_with("drops this field silently"));
        assert!(
            message(json!({"numVF": 8}))
                .ends_with("numVfs is missing, and the API server refuses the object")
        );
    }

    #[test]
    fn what_to_write() {
        for (value, expected) in [
            (json!({"numVfs": "8"}), "Write 8 without quotes."),
            (json!({"numVfs": "-8"}), "Write a whole number of at least 0."),
            (json!({"numVfs": "many"}), "Write a whole number of at least 0."),
            (json!({"priority": 100}), "Write a whole number from 0 to 99."),
            (json!({"isRdma": "true"}), "Write true without quotes."),
            (json!({"isRdma": "yes"}), "Write true or false."),
            (json!({"resourceName": 1}), "Put the value in quotes."),
            (json!({"resourceName": ["a"]}), "Write the value as one string."),
            (json!({"deviceType": "netdev"}), "Write netdevice."),
            (json!({"deviceType": "VFIO"}), "Write vfio-pci."),
            (json!({"linkType": "ethernet"}), "Write eth."),
            (json!({"linkType": "InfiniBand"}), "Write ib."),
            (json!({"linkType": "x"}), "Write eth, ETH, ib or IB."),
            (json!({"eSwitchMode": "switchdv"}), "Write switchdev."),
            (json!({"linkType": ""}), "Remove the field, or write eth, ETH, ib or IB."),
            (json!({"vdpaType": "net"}), "Write virtio or vhost."),
            (json!({"nodeSelector": ["a"]}), "Write a mapping."),
            (json!({"nicSelector": {"pfNames": "a"}}), "Write a list."),
        ] {
            let found = of(report_refused_values, (SRIOV, "SriovNetworkNodePolicy"), &value);
            assert_eq!((found.len(), found[0].2.as_str()), (1, expected), "{value}");
        }
        let network =
            of(report_refused_values, (SRIOV, "SriovNetwork"), &json!({"spoofChk": true, "trust": "yes"}));
        assert_eq!(network[0].2, "Write \"on\", with the quotes.");
        assert_eq!(network[1].2, "Write on or off.");
    }

    #[test]
    fn values_that_are_not_known_yet_and_objects_that_were_accepted() {
        let waits = json!({"numVfs": "${NUM_VFS}", "deviceType": "{{ .type }}", "linkType": "<type>"});
        assert_eq!(of(report_refused_values, (SRIOV, "SriovNetworkNodePolicy"), &waits), []);
        let (object, snapshot) = (json!({"spec": {"numVfs": "8"}}).to_string(), Snapshot::default());
        let name = (SRIOV, "SriovNetworkNodePolicy");
        let context = ObjectContext::new(name, &object, ObjectEvent::Given, &snapshot);
        assert!(
            is_reported_as_refused(&context, "/spec/numVfs") && !is_reported_as_refused(&context, "/spec")
        );
        assert!(!is_reported_as_refused(&context.already_checked_by_api_server(), "/spec/numVfs"));
    }

    /// Go matches keys in any case only where `json::as_go_reads` knows the field.
    #[test]
    fn fields_of_plugins_are_read_in_any_case() {
        for (family, name, fields) in [
            ("cni", "sriov", CNI_FIELDS),
            ("cni", "ib-sriov", CNI_FIELDS),
            ("cni", "macvlan", CNI_FIELDS),
            ("cni", "ipvlan", CNI_FIELDS),
            ("cni", "host-device", CNI_FIELDS),
            ("cni", "tuning", CNI_FIELDS),
            ("device-plugin", "shared", DEVICE_PLUGIN_FIELDS),
            ("device-plugin", "sriov", DEVICE_PLUGIN_FIELDS),
            ("device-plugin", "sriov-selector", DEVICE_PLUGIN_FIELDS),
        ] {
            let unknown: Vec<_> = schemas::fields_of_plugin(family, name).unwrap().keys().collect();
            let unknown = unknown.into_iter().filter(|key| !fields.contains(key));
            assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&str>::new(), "{name}");
        }
    }
}
