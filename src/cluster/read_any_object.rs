//! Reads of any object, of `/version`, of metrics and of this account's rights, for a command that checks an
//! installation. Every reason is a text for its user.

use super::call_deadline::{CallFault, LIST_OR_WATCH, late, reason};
use super::list_any_kind::{self, Event, ListError, Listing};
use super::list_pages::{Failure, PLAIN, get};
use super::lossy_utf8::text;
use super::page_size::PageSize;
use http_body_util::BodyExt;
use kube::Client;
use serde_json::Value;

/// Most bytes of a text that is read line by line. The metrics of a large API server have tens of megabytes.
const MAX_TEXT: usize = 256 << 20;
/// Longest line.
const MAX_LINE: usize = 64 << 10;

fn why(failure: Failure) -> String {
    match failure {
        Failure::Absent => "the API server does not serve this resource".to_owned(),
        Failure::Forbidden(why) => format!("this account has no right to read this resource ({why})"),
        Failure::Gone => "the list expired before its last page".to_owned(),
        Failure::Busy(_, why) => format!("the API server is busy ({why})"),
        Failure::Other(why) => why,
    }
}

async fn json(client: &Client, path: &str) -> Result<(http::HeaderMap, Value), Failure> {
    let (parts, body) = get(client, path).await?.into_parts();
    let other = |text: String| Failure::Other(text);
    let body = tokio::time::timeout(LIST_OR_WATCH, body.collect()).await;
    let body = body.map_err(|_| other(late(LIST_OR_WATCH)))?;
    let bytes = body.map_err(|error| other(reason(&error)))?.to_bytes();
    let value = serde_json::from_slice(&bytes).map_err(|error| other(error.to_string()))?;
    Ok((parts.headers, value))
}

/// An object by its path; `None` where it does not exist.
pub async fn object(client: &Client, path: &str) -> Result<Option<Value>, String> {
    match json(client, path).await {
        Ok((_, object)) => Ok(Some(object)),
        Err(Failure::Absent) => Ok(None),
        Err(failure) => Err(why(failure)),
    }
}

/// All objects of a collection; none where the kind is not installed.
pub async fn objects(client: &Client, path: &str, labels: Option<&str>) -> Result<Vec<Value>, String> {
    let encoded = |text: &str| -> String { form_urlencoded::byte_serialize(text.as_bytes()).collect() };
    let listing = Listing {
        path: path.to_owned(),
        query: labels.map(|labels| format!("labelSelector={}", encoded(labels))).unwrap_or_default(),
        metadata_only: false,
        size: PageSize::DEFAULT,
        deadline: LIST_OR_WATCH,
    };
    let (mut objects, mut broken) = (Vec::new(), None);
    let mut on = |event: Event<'_>| match event {
        Event::Page(items, _) => {
            for item in items {
                match serde_json::from_str(item.get()) {
                    Ok(object) => objects.push(object),
                    Err(error) => broken = Some(error.to_string()),
                }
            }
        }
        Event::Restarted => objects.clear(),
        Event::Waiting(_) => {}
    };
    match list_any_kind::read(client, &listing, &mut on).await {
        Ok(()) => broken.map_or(Ok(objects), Err),
        Err(ListError::Absent) => Ok(Vec::new()),
        Err(ListError::Forbidden(reason)) => Err(why(Failure::Forbidden(reason))),
        Err(ListError::Failed(reason)) => Err(reason),
    }
}

/// `/version`, and the header `Date` of the answer.
pub async fn version(client: &Client) -> Result<(Value, Option<String>), String> {
    let (headers, version) = json(client, "/version").await.map_err(why)?;
    let date = headers.get(http::header::DATE).and_then(|date| date.to_str().ok());
    Ok((version, date.map(str::to_owned)))
}

/// The lines of a text that are wanted.
pub async fn lines(
    client: &Client,
    path: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<String>, String> {
    let request = http::Request::get(path)
        .header(PLAIN.0, PLAIN.1)
        .body(kube::client::Body::empty())
        .map_err(|error| error.to_string())?;
    let sent = tokio::time::timeout(LIST_OR_WATCH, client.send(request)).await;
    let response = sent.map_err(|_| late(LIST_OR_WATCH))?;
    let response = response.map_err(|error| reason(&error))?;
    if !response.status().is_success() {
        return Err(format!("the API server answers {} to {path}", response.status()));
    }
    let mut body = response.into_body();
    let (mut found, mut rest, mut read) = (Vec::new(), Vec::new(), 0);
    loop {
        let frame = tokio::time::timeout(LIST_OR_WATCH, body.frame()).await;
        let Some(frame) = frame.map_err(|_| late(LIST_OR_WATCH))? else { break };
        let Ok(data) = frame.map_err(|error| reason(&error))?.into_data() else { continue };
        read += data.len();
        rest.extend_from_slice(&data);
        // The part behind the last line feed waits for the next frame.
        let tail = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let next = rest.split_off(tail);
        for line in rest.split(|byte| *byte == b'\n').map(text) {
            if wanted(&line) {
                found.push(line.trim_end().to_owned());
            }
        }
        rest = next;
        if read > MAX_TEXT || rest.len() > MAX_LINE {
            return Err("the text is too long".to_owned());
        }
    }
    Ok(found)
}

/// Whether an access review allows what it asks about.
pub async fn allows(client: &Client, kind: &str, spec: &Value) -> Result<bool, String> {
    let plural = format!("{}s", kind.to_lowercase());
    let body = serde_json::json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec});
    let request = http::Request::post(format!("/apis/authorization.k8s.io/v1/{plural}"))
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(body.to_string().into_bytes())
        .map_err(|error| error.to_string())?;
    match CallFault::await_with_deadline(client.request::<Value>(request)).await {
        Ok(answer) => Ok(answer.pointer("/status/allowed") == Some(&Value::Bool(true))),
        Err(CallFault::Api(kube::Error::Api(status))) => Err(status.message.clone()),
        Err(fault) => Err(fault.to_string()),
    }
}
