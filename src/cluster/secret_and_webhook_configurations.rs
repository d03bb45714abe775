//! The objects of our certificate, read and written by name: one Secret and two webhook configurations. Of a configuration
//! only the caBundles are ever written.

use super::call_deadline_and_failure_text::CallFault;
use super::list_watched_kind_into_builder::UNCOMPRESSED_HEADER;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::Notify;

/// Requested time limit of a watch, and how long it may be silent beyond that.
const WATCH: Duration = Duration::from_secs(240);
/// Pause before a watch is opened again. Periodic reads continue meanwhile.
const PAUSE: Duration = Duration::from_secs(2);

/// Names of the objects.
#[derive(Debug, Clone)]
pub struct CertificateObjectNames {
    /// Namespace of the Secret.
    pub namespace: String,
    /// Name of the Secret.
    pub secret: String,
    /// Name of the MutatingWebhookConfiguration.
    pub mutating: String,
    /// Name of the ValidatingWebhookConfiguration.
    pub validating: String,
}

/// One of the two kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebhookConfigurationKind {
    Mutating,
    Validating,
}

impl WebhookConfigurationKind {
    pub(crate) const ALL: [Self; 2] = [Self::Mutating, Self::Validating];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mutating => "MutatingWebhookConfiguration",
            Self::Validating => "ValidatingWebhookConfiguration",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Mutating => "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
            Self::Validating => "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        }
    }
}

/// One of our objects, with the fields used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookConfiguration {
    version: String,
    /// Its webhooks, in the order of the object.
    pub webhooks: Vec<Webhook>,
}

/// One webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// The name of the webhook.
    pub name: String,
    /// The server name that the API server asks for.
    pub host: String,
    /// The caBundle, decoded; empty where there is none.
    pub bundle: Vec<u8>,
}

impl WebhookConfiguration {
    /// The fields of an object.
    pub fn of(object: &Value) -> Self {
        let webhooks =
            object.get("webhooks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let text = |value: &Value, pointer: &str| {
            value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let webhooks = webhooks.iter().map(|webhook| Webhook {
            name: text(webhook, "/name"),
            host: match text(webhook, "/clientConfig/url") {
                url if url.is_empty() => {
                    let part = |name| text(webhook, &format!("/clientConfig/service/{name}"));
                    format!("{}.{}.svc", part("name"), part("namespace"))
                }
                url => host(&url),
            },
            bundle: STANDARD.decode(text(webhook, "/clientConfig/caBundle")).unwrap_or_default(),
        });
        Self { version: text(object, "/metadata/resourceVersion"), webhooks: webhooks.collect() }
    }

    /// The only patch that is ever sent: each caBundle that differs, with tests that the object and the order of its webhooks
    /// have not changed since the read.
    fn patch(&self, bundle: &str) -> Value {
        let encoded = STANDARD.encode(bundle);
        let mut patch =
            vec![json!({"op": "test", "path": "/metadata/resourceVersion", "value": self.version})];
        for (number, webhook) in self.webhooks.iter().enumerate() {
            if webhook.bundle != bundle.as_bytes() {
                let path = |rest: &str| format!("/webhooks/{number}/{rest}");
                patch.push(json!({"op": "test", "path": path("name"), "value": webhook.name}));
                patch.push(json!({"op": "add", "path": path("clientConfig/caBundle"), "value": encoded}));
            }
        }
        Value::Array(patch)
    }
}

/// The host of a URL, without port and brackets.
fn host(url: &str) -> String {
    let parsed = url.parse::<http::Uri>().ok();
    let host = parsed.as_ref().and_then(http::Uri::host).unwrap_or(url);
    host.trim_start_matches('[').trim_end_matches(']').to_owned()
}

/// The result of a write.
#[derive(Debug)]
pub(crate) enum Written {
    Done,
    /// By the API server's answer, the object has probably changed since it was read.
    Outrun(CallFault),
}

/// Calls about our objects.
#[derive(Clone)]
pub(crate) struct CertificateObjects {
    pub(crate) client: Client,
    pub(crate) names: CertificateObjectNames,
}

impl CertificateObjects {
    pub(crate) fn configuration_name(&self, kind: WebhookConfigurationKind) -> &str {
        match kind {
            WebhookConfigurationKind::Mutating => &self.names.mutating,
            WebhookConfigurationKind::Validating => &self.names.validating,
        }
    }

    fn secrets(&self) -> String {
        format!("/api/v1/namespaces/{}/secrets", self.names.namespace)
    }

    async fn call(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        body: Option<&Value>,
    ) -> Result<Value, CallFault> {
        let bytes = body.map(Value::to_string).unwrap_or_default().into_bytes();
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::ACCEPT, "application/json")
            .header(http::header::CONTENT_TYPE, kind)
            .body(bytes)
            .map_err(kube::Error::HttpError)?;
        CallFault::await_with_deadline(self.client.request::<Value>(request)).await
    }

    async fn get(&self, path: &str) -> Result<Option<Value>, CallFault> {
        match self.call("GET", path, "application/json", None).await {
            Ok(object) => Ok(Some(object)),
            Err(fault) if fault.http_status() == Some(404) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The Secret; `None` where it does not exist.
    pub(crate) async fn read_secret(&self) -> Result<Option<Value>, CallFault> {
        self.get(&format!("{}/{}", self.secrets(), self.names.secret)).await
    }

    /// Writes the Secret: over the version that the object was read in, or as a new one.
    pub(crate) async fn write_secret(&self, object: &Value) -> Result<Written, CallFault> {
        let known = object.pointer("/metadata/resourceVersion").is_some();
        let written = if known {
            let path = format!("{}/{}", self.secrets(), self.names.secret);
            self.call("PUT", &path, "application/json", Some(object)).await
        } else {
            self.call("POST", &self.secrets(), "application/json", Some(object)).await
        };
        match written {
            Ok(_) => Ok(Written::Done),
            // 409: another version, or it exists. 404: deleted meanwhile.
            Err(fault)
                if matches!(fault.http_status(), Some(409))
                    || (known && fault.http_status() == Some(404)) =>
            {
                Ok(Written::Outrun(fault))
            }
            Err(fault) => Err(fault),
        }
    }

    /// A configuration; `None` where it does not exist.
    pub(crate) async fn read_webhook_configuration(
        &self,
        kind: WebhookConfigurationKind,
    ) -> Result<Option<WebhookConfiguration>, CallFault> {
        let found = self.get(&format!("{}/{}", kind.path(), self.configuration_name(kind))).await?;
        Ok(found.as_ref().map(WebhookConfiguration::of))
    }

    /// Writes the caBundles of a configuration as it was read.
    pub(crate) async fn patch_wrong_ca_bundles(
        &self,
        kind: WebhookConfigurationKind,
        read: &WebhookConfiguration,
        bundle: &str,
    ) -> Result<Written, CallFault> {
        let path = format!(
            "{}/{}?fieldManager={}",
            kind.path(),
            self.configuration_name(kind),
            super::write_profile_status::FIELD_MANAGER
        );
        match self.call("PATCH", &path, "application/json-patch+json", Some(&read.patch(bundle))).await {
            Ok(_) => Ok(Written::Done),
            // A `test` that fails is 422 (k8s.io/apiserver pkg/endpoints/handlers/patch.go).
            Err(fault) if matches!(fault.http_status(), Some(404 | 409 | 422)) => Ok(Written::Outrun(fault)),
            Err(fault) => Err(fault),
        }
    }

    /// Makes an Event in our namespace.
    pub(crate) async fn create_event(&self, event: &Value) -> Result<(), CallFault> {
        let path = format!("/apis/events.k8s.io/v1/namespaces/{}/events", self.names.namespace);
        self.call("POST", &path, "application/json", Some(event)).await.map(drop)
    }

    /// Signals every change of the objects, until aborted. The receiver reads the objects itself, so a broken watch delays
    /// changes and hides none.
    pub(crate) async fn signal_changes(&self, changed: &Notify) {
        let one = |collection: String, name: &str| {
            let selector: String =
                form_urlencoded::byte_serialize(format!("metadata.name={name}").as_bytes()).collect();
            format!("{collection}?watch=true&timeoutSeconds={}&fieldSelector={selector}", WATCH.as_secs())
        };
        let [mutating, validating] = WebhookConfigurationKind::ALL
            .map(|kind| self.watch(one(kind.path().to_owned(), self.configuration_name(kind)), changed));
        let secret = self.watch(one(self.secrets(), &self.names.secret), changed);
        tokio::join!(secret, mutating, validating);
    }

    async fn watch(&self, path: String, changed: &Notify) {
        loop {
            let (name, value) = UNCOMPRESSED_HEADER;
            let request = http::Request::get(&path)
                .header(http::header::ACCEPT, "application/json")
                .header(name, value)
                .body(Body::empty());
            if let Ok(request) = request
                && let Ok(Ok(response)) = tokio::time::timeout(
                    super::call_deadline_and_failure_text::DEADLINE_OF_LIST_OR_WATCH,
                    self.client.send(request),
                )
                .await
                && response.status().is_success()
            {
                let mut body = response.into_body();
                while let Ok(Some(Ok(_))) = tokio::time::timeout(
                    WATCH + super::call_deadline_and_failure_text::DEADLINE_OF_LIST_OR_WATCH,
                    body.frame(),
                )
                .await
                {
                    changed.notify_one();
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_touches_bundles_and_nothing_else() {
        let object = json!({"metadata": {"name": "c", "resourceVersion": "7"}, "webhooks": [
            {"name": "a.x", "clientConfig": {"service": {"namespace": "n", "name": "s"}, "caBundle": STANDARD.encode("CA")}},
            {"name": "b.x", "clientConfig": {"url": "https://[::1]:8443/p"}},
            {"name": "c.x", "clientConfig": {"url": "https://example.com:1/p", "caBundle": STANDARD.encode("old")}}]});
        let read = WebhookConfiguration::of(&object);
        let hosts: Vec<&str> = read.webhooks.iter().map(|w| w.host.as_str()).collect();
        assert_eq!(hosts, ["s.n.svc", "::1", "example.com"]);
        let ca = STANDARD.encode("CA");
        let expected = json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "test", "path": "/webhooks/1/name", "value": "b.x"},
            {"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": ca},
            {"op": "test", "path": "/webhooks/2/name", "value": "c.x"},
            {"op": "add", "path": "/webhooks/2/clientConfig/caBundle", "value": ca}]);
        assert_eq!(read.patch("CA"), expected);
        assert_eq!(read.patch("CA").as_array().map(Vec::len), Some(5));
    }
}
