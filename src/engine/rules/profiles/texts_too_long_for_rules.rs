//! JSON texts of an object that rules do not read, because to read them would take too long.

use crate::rules::device_plugin_config_fault_type::NotRead;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{KINDS_WITH_KNOWN_FIELDS, NETWORK_ATTACHMENT_DEFINITION};
use crate::rules::operators::device_plugin_configs_in_object::configurations;
use crate::text::{refuse_long_cni_document, refuse_long_document};

/// Their JSON pointers, each with its length and the limit, in words.
pub(super) fn texts_too_long_for_rules(context: &ObjectContext<'_>) -> Vec<(String, String)> {
    let kind = (context.group, context.kind);
    if KINDS_WITH_KNOWN_FIELDS.contains(&kind)
        && let Err(whole) = refuse_long_document(context.json)
    {
        return vec![(String::new(), whole.to_string())];
    }
    // Other kinds have texts of the same names for other purposes.
    let texts: &[&str] = match () {
        () if kind == NETWORK_ATTACHMENT_DEFINITION => &["/spec/config"],
        () if KINDS_WITH_KNOWN_FIELDS.contains(&kind) => &["/spec/ipam", "/spec/metaPlugins"],
        () => &[],
    };
    let of_cni = texts.iter().filter_map(|pointer| {
        let error = refuse_long_cni_document(context.non_empty_text_at(pointer)?).err()?;
        Some(((*pointer).to_owned(), error.to_string()))
    });
    let of_plugins =
        configurations(context).iter().filter_map(|configuration| match &configuration.text.faults {
            Err(NotRead::TooLong(why)) => Some((configuration.pointer.clone(), why.clone())),
            _ => None,
        });
    of_cni.chain(of_plugins).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::object_context::ObjectEvent;
    use crate::snapshot::Snapshot;
    use serde_json::json;

    fn found(group_and_kind: (&str, &str), object: &serde_json::Value) -> Vec<(String, String)> {
        let (json, snapshot) = (object.to_string(), Snapshot::default());
        texts_too_long_for_rules(&ObjectContext::new(group_and_kind, &json, ObjectEvent::Given, &snapshot))
    }

    fn pointers(group_and_kind: (&str, &str), object: &serde_json::Value) -> Vec<String> {
        found(group_and_kind, object).into_iter().map(|(pointer, _)| pointer).collect()
    }

    #[test]
    fn texts_of_cni() {
        let text = |values: usize| json!({"type": "sriov", "routes": vec![1; values]}).to_string();
        let definition = |values: usize| json!({"spec": {"config": text(values)}});
        assert!(found(NETWORK_ATTACHMENT_DEFINITION, &definition(900)).is_empty());
        let (pointer, why) = found(NETWORK_ATTACHMENT_DEFINITION, &definition(2_000)).pop().unwrap();
        assert_eq!(pointer, "/spec/config");
        assert!(why.contains("about 2002 values; at most 1000"), "{why}");
        let network = json!({"spec": {"ipam": text(1_100), "metaPlugins": text(1_200)}});
        let sriov = ("sriovnetwork.openshift.io", "SriovNetwork");
        assert_eq!(pointers(sriov, &network), ["/spec/ipam", "/spec/metaPlugins"]);
        let whole = json!({"spec": {"config": "x".repeat(300_000)}});
        assert_eq!(pointers(NETWORK_ATTACHMENT_DEFINITION, &whole), [""]);
        assert!(pointers(("", "ConfigMap"), &whole).is_empty(), "of any other program");
    }

    #[test]
    fn configurations_of_device_plugins() {
        let text_of = |name: &str, values: usize| {
            json!({"resourceList": [{"resourceName": "a", "selectors": {"pfNames": vec![name; values]}}]})
                .to_string()
        };
        let text = |values: usize| text_of("e", values);
        let map = |texts: &[usize]| {
            let texts = texts.iter().enumerate();
            let data: serde_json::Map<_, _> =
                texts.map(|(i, values)| (i.to_string(), text_of(&format!("e{i}"), *values).into())).collect();
            json!({"data": data})
        };
        let config_map = ("", "ConfigMap");
        assert!(pointers(config_map, &map(&[1_900; 4])).is_empty());
        assert_eq!(pointers(config_map, &map(&[1_900; 5])), ["/data/4"]);
        assert_eq!(pointers(config_map, &map(&[2_500, 1_900])), ["/data/0"]);
        let policy = json!({"spec": {"sriovDevicePlugin": {"config": text(2_500)}}});
        assert_eq!(
            pointers(("mellanox.com", "NicClusterPolicy"), &policy),
            ["/spec/sriovDevicePlugin/config"]
        );
    }
}
