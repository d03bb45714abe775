//! Suggestions for a label or a resource that no node has.

use crate::support::generated_world::World;
use crate::support::suite::Suite;
use serde_json::json;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("misspelt::a_resource_of_nodes_is_not_confirmed", || Ok(resource_of_nodes()?));
    suite.add("misspelt::a_tenant_gets_only_published_selectors", || Ok(suggestions()?));
}

/// The webhook answers a tenant, who may know the selectors of profiles but not the labels of nodes.
fn suggestions() -> Result<(), String> {
    let node = |fabric: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": fabric, "labels": {"fabric": fabric, "example.com/product": "alpha-3000"}}})
    };
    let profile = |fabric: &str| {
        json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": fabric},
            "spec": {"base": "ethernet-tcp", "nodeSelector": {"matchLabels": {"fabric": fabric}}}})
    };
    for (label, value, suggested) in
        [("fabrc", "east", Some("did you mean label fabric?")), ("example.com/product", "alpha-3000x", None)]
    {
        let pod = json!({"metadata": {"name": "p"}, "spec": {"nodeSelector": {label: value}, "containers": [
            {"name": "t", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
        let world = World::new(&json!({
            "pod": pod, "profiles": [profile("east"), profile("west")], "objects": [node("east"), node("west")],
        }));
        let decision = world.decide().ok_or("the pod cannot be read")?;
        let finding = decision.findings.iter().find(|f| f.rule == "FAB806").ok_or("no FAB806")?;
        let text = format!("{} {}", finding.message, finding.fix);
        let said = text.contains("did you mean");
        if said != suggested.is_some()
            || !suggested.is_none_or(|words| text.contains(words))
            || text.contains("alpha-3000 ")
        {
            return Err(format!("{label}: {text}"));
        }
    }
    Ok(())
}

/// Whether nodes list a resource is for no caller without a certificate.
fn resource_of_nodes() -> Result<(), String> {
    for resource in ["edma/hca", "example.com/other"] {
        let world = World::new(&json!({
            "pod": {"metadata": {"name": "p"}, "spec": {"containers": [
                {"name": "t", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 8, "edma/hca": 1}}}]}},
            "objects": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
                "status": {"allocatable": {"nvidia.com/gpu": "8", resource: "8"}}}],
        }));
        let decision = world.decide_for_anyone().ok_or("the pod cannot be read")?;
        if !decision.findings.iter().any(|f| f.rule == "FAB207") {
            return Err(format!("nodes with {resource}: no FAB207"));
        }
    }
    Ok(())
}
