use super::Affinity;
use crate::pod::PodView;

#[test]
fn nulls_read_as_absent() {
    for json in [
        r#"{"spec":{"affinity":null,"nodeSelector":null,"tolerations":null,"nodeName":null}}"#,
        r#"{"spec":{"affinity":{"nodeAffinity":null,"podAffinity":{"x":[]}}}}"#,
        r#"{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":null}}}}"#,
        r#"{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":null}}}}}"#,
    ] {
        let pod: PodView<'_> = serde_json::from_str(json).unwrap();
        assert!(pod.affinity().and_then(Affinity::required_node_terms).is_none(), "{json}");
        assert!(pod.node_name().is_none() && pod.tolerations().is_empty(), "{json}");
    }
}

#[test]
fn null_terms_and_values_are_zero_values() {
    let json = r#"{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms":[null,{"matchExpressions":[{"key":"a","operator":"In","values":["x",null]},null],"matchFields":null}]}}},
        "tolerations":[null,{"key":"gpu","operator":"Exists","tolerationSeconds":3}],"nodeSelector":{"a":null},"nodeName":""}}"#;
    let pod: PodView<'_> = serde_json::from_str(json).unwrap();
    let terms = pod.affinity().unwrap().required_node_terms().unwrap();
    assert!(terms[0].is_empty() && !terms[1].is_empty());
    assert_eq!(terms[1].expressions()[0].values().collect::<Vec<_>>(), ["x", ""]);
    assert_eq!(pod.tolerations().len(), 2);
    assert_eq!(pod.node_selector_value("a"), Some(""));
    assert!(pod.node_name().is_none());
}
