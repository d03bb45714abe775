//! Access reviews: which rights an account has.

use crate::cluster::reads_for_installation_check::ask_access_review;
use crate::doctor::Right;
use kube::Client;
use serde_json::{Value, json};

/// Reviews that are under way at once.
const AT_ONCE: usize = 16;

/// The caller's rights.
pub(super) async fn review_rights_of_caller(
    client: &Client,
    wanted: Vec<Right>,
) -> Result<Vec<Right>, String> {
    send_access_reviews(client, "SelfSubjectAccessReview", json!({}), wanted).await
}

/// The rights of a service account, given as `namespace:name`.
pub(super) async fn review_rights_of_service_account(
    client: &Client,
    account: &str,
    wanted: Vec<Right>,
) -> Result<Vec<Right>, String> {
    let namespace = account.split(':').next().unwrap_or_default();
    let groups =
        ["system:serviceaccounts", &format!("system:serviceaccounts:{namespace}"), "system:authenticated"];
    let subject = json!({"user": format!("system:serviceaccount:{account}"), "groups": groups});
    send_access_reviews(client, "SubjectAccessReview", subject, wanted).await
}

async fn send_access_reviews(
    client: &Client,
    kind: &'static str,
    subject: Value,
    wanted: Vec<Right>,
) -> Result<Vec<Right>, String> {
    let mut rights = Vec::new();
    for some in wanted.chunks(AT_ONCE) {
        let reviews: Vec<_> = some
            .iter()
            .map(|right| {
                let (resource, subresource) = right.resource.split_once('/').unwrap_or((&right.resource, ""));
                let mut spec = subject.clone();
                if let Value::Object(spec) = &mut spec {
                    let asked = json!({
                        "verb": right.verb, "group": right.group, "resource": resource, "subresource": subresource,
                        "namespace": right.namespace, "name": right.name
                    });
                    spec.insert("resourceAttributes".to_owned(), asked);
                }
                let client = client.clone();
                tokio::spawn(async move { ask_access_review(&client, kind, &spec).await })
            })
            .collect();
        for (right, review) in some.iter().zip(reviews) {
            let allowed = review.await.map_err(|error| error.to_string())??;
            rights.push(Right { allowed, ..right.clone() });
        }
    }
    Ok(rights)
}
