//! Many profiles and nodes as YAML, which take long to compare with one another.

/// Profiles as YAML, each for all nodes of [`nodes_with_labels`] but one: to compare them with the nodes takes long.
pub(crate) fn profiles_for_all_nodes_but_one(count: usize) -> String {
    let profile = |i: usize| {
        format!(
            "---\napiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: p{i}}}\nspec: {{base: roce-sriov, \
             nodeSelector: {{matchExpressions: [{{key: f, operator: NotIn, values: [a{i}]}}]}}}}\n"
        )
    };
    (0..count).map(profile).collect()
}

/// Nodes as YAML, each with a value of its own for one label.
pub(crate) fn nodes_with_labels(count: usize) -> String {
    let node = |i: usize| {
        format!("---\napiVersion: v1\nkind: Node\nmetadata: {{name: a{i}, labels: {{f: a{i}}}}}\n")
    };
    (0..count).map(node).collect()
}
