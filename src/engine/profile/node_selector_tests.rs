//! Profiles with node selectors: those of real nodes, and those that no pod could carry.

use crate::profile::{FabricProfile, Profile};

fn error(fields: &str) -> Option<String> {
    let json = format!(
        r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"p"}},
        "spec":{{"transport":"roce","attachment":"sriov",{fields}}}}}"#
    );
    let profile: FabricProfile = serde_json::from_str(&json).unwrap();
    Profile::checked_with_base(&profile, &[]).err().map(|e| format!("{} {}", e.pointer, e.message))
}

#[test]
fn selectors_of_real_nodes_load() {
    for selector in [
        r#"{"matchLabels":{"feature.node.kubernetes.io/pci-15b3.present":"true","pool":""}}"#,
        r#"{"matchExpressions":[{"key":"a.b/c_d","operator":"In","values":["x","Y.z"]},{"key":"e","operator":"Exists"}]}"#,
    ] {
        let fields = format!(r#""nodeSelector":{selector},"placement":{{"nodeAffinity":"required"}}"#);
        assert_eq!(error(&fields), None);
    }
}

#[test]
fn what_the_api_server_would_refuse_in_a_pod_is_refused() {
    for (fields, words) in [
        (r#""placement":{"nodeAffinity":"required"}"#, "needs a nodeSelector"),
        (r#""placement":{"nodeAffinity":"required"},"nodeSelector":{}"#, "needs a nodeSelector"),
        (r#""nodeSelector":{"matchLabels":{"a b":"x"}}"#, "not a label key"),
        (r#""nodeSelector":{"matchLabels":{"A.x/":"x"}}"#, "not a label key"),
        (r#""nodeSelector":{"matchLabels":{"a":"x y"}}"#, "not a label value"),
        (r#""nodeSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}"#, "at least one"),
        (
            r#""nodeSelector":{"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]}"#,
            "no value",
        ),
    ] {
        let message = error(fields).unwrap();
        assert!(message.contains(words), "{message}");
    }
}
