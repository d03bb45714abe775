//! Profiles with misspelt keys and values.

use super::FabricProfile;
use crate::json::decode_with_place::decode_object;

/// Every struct of a profile, at every depth, and every enum.
#[test]
fn a_misspelt_field_or_value_of_a_profile_has_its_place_and_a_suggestion() {
    for (spec, pointer, message) in [
        (
            r#""nodeselector":{}"#,
            "/nodeselector",
            r#"unknown field "nodeselector"; did you mean "nodeSelector"?"#,
        ),
        (
            r#""rails":[{"network":"a/b"},{"network":"a/b","interfaces":"rail0"}]"#,
            "/rails/1/interfaces",
            r#"unknown field "interfaces"; did you mean "interface"?"#,
        ),
        (r#""subsets":[{"nmae":"a"}]"#, "/subsets/0/nmae", r#"unknown field "nmae"; did you mean "name"?"#),
        (
            r#""placement":{"nodeaffinity":"none"}"#,
            "/placement/nodeaffinity",
            r#"unknown field "nodeaffinity"; did you mean "nodeAffinity"?"#,
        ),
        (
            r#""resources":[{"quantiy":1}]"#,
            "/resources/0/quantiy",
            r#"unknown field "quantiy"; did you mean "quantity"?"#,
        ),
        (
            r#""when":{"multinode":"any"}"#,
            "/when/multinode",
            r#"unknown field "multinode"; did you mean "multiNode"?"#,
        ),
        (r#""env":[{"vaule":"1"}]"#, "/env/0/vaule", r#"unknown field "vaule"; did you mean "value"?"#),
        (
            r#""sharedMemory":{"perAcelerator":"8Gi"}"#,
            "/sharedMemory/perAcelerator",
            r#"unknown field "perAcelerator"; did you mean "perAccelerator"?"#,
        ),
        (
            r#""when":{"podSelector":{"matchLabel":{}}}"#,
            "/when/podSelector/matchLabel",
            r#"unknown field "matchLabel"; did you mean "matchLabels"?"#,
        ),
        (
            r#""namespaces":{"matchExpressions":[{"key":"a","value":[]}]}"#,
            "/namespaces/matchExpressions/0/value",
            r#"unknown field "value"; did you mean "values"?"#,
        ),
        (r#""transport":"rocev2""#, "/transport", r#"unknown value "rocev2"; did you mean "roce"?"#),
        (r#""attachment":"srivo""#, "/attachment", r#"unknown value "srivo"; did you mean "sriov"?"#),
        (r#""inject":"fulll""#, "/inject", r#"unknown value "fulll"; did you mean "full"?"#),
        (r#""onMissing":"Deny""#, "/onMissing", r#"unknown value "Deny"; did you mean "deny"?"#),
        (
            r#""env":[{"name":"A","policy":"required"}]"#,
            "/env/0/policy",
            r#"unknown value "required"; did you mean "require"?"#,
        ),
        (
            r#""resources":[{"name":"a/b","quantity":1,"per":"accelerators"}]"#,
            "/resources/0/per",
            r#"unknown value "accelerators"; did you mean "accelerator"?"#,
        ),
        (
            r#""namespaces":{"matchExpressions":[{"key":"a","operator":"notin"}]}"#,
            "/namespaces/matchExpressions/0/operator",
            r#"unknown value "notin"; did you mean "NotIn"?"#,
        ),
        (
            r#""transport":"quantum""#,
            "/transport",
            r#"unknown value "quantum"; expected one of: roce, infiniband, ethernet, efa, tcpx, tcpxo"#,
        ),
        (
            r#""a`, expected `b":1"#,
            "/a`, expected `b",
            r#"unknown field "a`, expected `b"; expected one of: base"#,
        ),
    ] {
        let json = format!(r#"{{"apiVersion":"x","kind":"y","metadata":{{"name":"n"}},"spec":{{{spec}}}}}"#);
        let error = decode_object::<FabricProfile>(&json).unwrap_err();
        assert_eq!(error.pointer, format!("/spec{pointer}"), "{error}");
        assert!(error.message.starts_with(message), "{}", error.message);
    }
    for (json, pointer) in [
        (r#"{"apiversion":"x"}"#, "/apiversion"),
        (r#"{"metadata":{"name":"n","lables":{}}}"#, "/metadata/lables"),
    ] {
        let error = decode_object::<FabricProfile>(json).unwrap_err();
        assert_eq!(error.pointer, pointer, "{error}");
        assert!(error.message.contains("did you mean"), "{}", error.message);
    }
}
