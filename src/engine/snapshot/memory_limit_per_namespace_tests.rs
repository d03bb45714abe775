//! What objects of tenants may take of the memory.

use super::memory_limit_per_namespace::MAX_BYTES_PER_NAMESPACE_AND_KIND;
use super::{Builder, FactError, Layer, Settings, Snapshot};
use crate::facts::DeviceClaim;

const GROUP: &str = "resource.k8s.io";
const TEMPLATE: &str = "ResourceClaimTemplate";

/// A template with as many requests and alternatives as the API server accepts.
fn template(namespace: &str, name: &str) -> String {
    let ask = |i: usize| format!(r#"{{"name":"a{i}","deviceClassName":"c{i}"}}"#);
    let asks: Vec<String> = (0..8).map(ask).collect();
    let request = |i: usize| format!(r#"{{"name":"r{i}","firstAvailable":[{}]}}"#, asks.join(","));
    let requests: Vec<String> = (0..32).map(request).collect();
    let spec = format!(r#"{{"spec":{{"devices":{{"requests":[{}]}}}}}}"#, requests.join(","));
    format!(r#"{{"metadata":{{"namespace":"{namespace}","name":"{name}"}},"spec":{spec}}}"#)
}

fn add(builder: &mut Builder, layer: Layer, namespace: &str, name: &str) -> Result<(), FactError> {
    builder.add(layer, GROUP, TEMPLATE, &template(namespace, name), "default")
}

/// A builder that trusts no namespace but `ops`, and the templates of a tenant up to the first one that is too much.
fn filled() -> (Builder, usize) {
    let mut builder = Builder::default();
    let operator_namespaces = Some(["ops".to_owned()].into());
    builder.replace_settings(Settings { operator_namespaces, ..Settings::default() });
    let number = (0..100_000).find(|i| add(&mut builder, Layer::Live, "team", &format!("t{i}")).is_err());
    (builder, number.unwrap())
}

fn template_of<'a>(snapshot: &'a Snapshot, namespace: &str, name: &str) -> Option<&'a DeviceClaim> {
    snapshot.known.objects.facts.namespaced.claim_template(namespace, name)
}

#[test]
fn objects_of_a_namespace_have_a_limit() {
    let (mut builder, number) = filled();
    // A template takes about 23 kB.
    assert!(
        (MAX_BYTES_PER_NAMESPACE_AND_KIND / 40_000..MAX_BYTES_PER_NAMESPACE_AND_KIND / 10_000)
            .contains(&number),
        "{number}"
    );
    let last = format!("t{number}");
    let error = add(&mut builder, Layer::Live, "team", &last).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the objects of this kind in namespace \"team\" already use 16 MiB of memory"
    );
    let snapshot = builder.build();
    assert!(
        template_of(&snapshot, "team", "t0").is_some() && template_of(&snapshot, "team", &last).is_none()
    );
}

#[test]
fn the_limit_is_that_of_one_namespace_and_kind() {
    let (mut builder, number) = filled();
    add(&mut builder, Layer::Live, "other", "t").unwrap();
    add(&mut builder, Layer::Live, "ops", "t").unwrap();
    add(&mut builder, Layer::Input, "team", "of-a-file").unwrap();
    let claim = r#"{"metadata":{"namespace":"team","name":"c"},"spec":{"devices":{"requests":[]}}}"#;
    builder.add(Layer::Live, GROUP, "ResourceClaim", claim, "default").unwrap();
    // An object that is known already stays, and one that goes makes room.
    add(&mut builder, Layer::Live, "team", "t0").unwrap();
    builder.remove(Layer::Live, GROUP, TEMPLATE, "team", "t1");
    add(&mut builder, Layer::Live, "team", &format!("t{number}")).unwrap();
    add(&mut builder, Layer::Live, "team", "t1").unwrap_err();
}

#[test]
fn an_object_that_no_longer_fits_is_unknown() {
    let (mut builder, _) = filled();
    let small =
        r#"{"metadata":{"namespace":"team","name":"t0"},"spec":{"spec":{"devices":{"requests":[]}}}}"#;
    builder.add(Layer::Live, GROUP, TEMPLATE, small, "default").unwrap();
    add(&mut builder, Layer::Live, "team", "takes-its-room").unwrap();
    assert!(template_of(&builder.build(), "team", "t0").is_some());
    add(&mut builder, Layer::Live, "team", "t0").unwrap_err();
    assert!(builder.has_changed_since_build() && template_of(&builder.build(), "team", "t0").is_none());
}

#[test]
fn an_equal_object_keeps_the_fact_in_use() {
    let mut builder = Builder::default();
    let at = |snapshot: &Snapshot| std::ptr::from_ref(template_of(snapshot, "team", "t").unwrap());
    add(&mut builder, Layer::Live, "team", "t").unwrap();
    let before = builder.build();
    add(&mut builder, Layer::Live, "team", "t").unwrap();
    builder.remove(Layer::Live, GROUP, TEMPLATE, "team", "another");
    builder.replace_settings(Settings::default());
    assert_eq!(at(&before), at(&builder.build()));
}

#[test]
fn claims_of_one_template_share_their_devices() {
    let mut builder = Builder::default();
    for name in ["a", "b", "c"] {
        add(&mut builder, Layer::Live, "team", name).unwrap();
    }
    let snapshot = builder.build();
    let at = |name: &str| std::ptr::from_ref(template_of(&snapshot, "team", name).unwrap());
    assert!(at("a") == at("b") && at("b") == at("c"));
}
