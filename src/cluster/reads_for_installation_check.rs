//! Reads of any object, of `/version`, of metrics and of this account's rights, for a command that checks an
//! installation. Every reason is a text for its user.

use super::call_deadline_and_failure_text::{
    CallFault, DEADLINE_OF_LIST_OR_WATCH, no_response_message, text_of_failed_call,
};
use super::list_any_kind::{self, ListError, ListEvent, Listing};
use super::list_watched_kind_into_builder::{ListOrWatchFailure, UNCOMPRESSED_HEADER, get};
use super::lossy_utf8::text_with_replaced_bytes;
use super::page_size::PageSize;
use http_body_util::BodyExt;
use kube::Client;
use serde_json::Value;

/// Most bytes of a text that is read line by line. The metrics of a large API server have tens of megabytes.
const MAX_TEXT: usize = 256 << 20;
/// Longest line.
const MAX_LINE: usize = 64 << 10;

fn why(failure: ListOrWatchFailure) -> String {
    match failure {
        ListOrWatchFailure::Absent => "the API server does not serve this resource".to_owned(),
        ListOrWatchFailure::Forbidden(why) => {
            format!("this account has no right to read this resource ({why})")
        }
        ListOrWatchFailure::Gone => "the list expired before its last page".to_owned(),
        ListOrWatchFailure::Busy(_, why) => format!("the API server is busy ({why})"),
        ListOrWatchFailure::Other(why) => why,
    }
}

async fn json(client: &Client, path: &str) -> Result<(http::HeaderMap, Value), ListOrWatchFailure> {
    let (parts, body) = get(client, path).await?.into_parts();
    let other = |text: String| ListOrWatchFailure::Other(text);
    let body = tokio::time::timeout(DEADLINE_OF_LIST_OR_WATCH, body.collect()).await;
    let body = body.map_err(|_| other(no_response_message(DEADLINE_OF_LIST_OR_WATCH)))?;
    let bytes = body.map_err(|error| other(text_of_failed_call(&error)))?.to_bytes();
    let value = serde_json::from_slice(&bytes).map_err(|error| other(error.to_string()))?;
    Ok((parts.headers, value))
}

/// An object by its path; `None` where it does not exist.
pub async fn read_object_if_it_exists(client: &Client, path: &str) -> Result<Option<Value>, String> {
    match json(client, path).await {
        Ok((_, object)) => Ok(Some(object)),
        Err(ListOrWatchFailure::Absent) => Ok(None),
        Err(failure) => Err(why(failure)),
    }
}

/// All objects of a collection; none where the kind is not installed.
pub async fn read_collection(
    client: &Client,
    path: &str,
    labels: Option<&str>,
) -> Result<Vec<Value>, String> {
    let encoded = |text: &str| -> String { form_urlencoded::byte_serialize(text.as_bytes()).collect() };
    let listing = Listing {
        path: path.to_owned(),
        query: labels.map(|labels| format!("labelSelector={}", encoded(labels))).unwrap_or_default(),
        metadata_only: false,
        size: PageSize::DEFAULT,
        deadline: DEADLINE_OF_LIST_OR_WATCH,
    };
    let (mut objects, mut broken) = (Vec::new(), None);
    let mut on = |event: ListEvent<'_>| match event {
        ListEvent::Page(items, _) => {
            for item in items {
                match serde_json::from_str(item.get()) {
                    Ok(object) => objects.push(object),
                    Err(error) => broken = Some(error.to_string()),
                }
            }
        }
        ListEvent::Restarted => objects.clear(),
        ListEvent::Waiting(_) => {}
    };
    match list_any_kind::read_list_page_by_page(client, &listing, &mut on).await {
        Ok(()) => broken.map_or(Ok(objects), Err),
        Err(ListError::Absent) => Ok(Vec::new()),
        Err(ListError::Forbidden(reason)) => Err(why(ListOrWatchFailure::Forbidden(reason))),
        Err(ListError::Failed(reason)) => Err(reason),
    }
}

/// `/version`, and the header `Date` of the answer.
pub async fn read_version_and_date(client: &Client) -> Result<(Value, Option<String>), String> {
    let (headers, version) = json(client, "/version").await.map_err(why)?;
    let date = headers.get(http::header::DATE).and_then(|date| date.to_str().ok());
    Ok((version, date.map(str::to_owned)))
}

/// The lines of a text that are wanted.
pub async fn read_wanted_lines(
    client: &Client,
    path: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<String>, String> {
    let request = http::Request::get(path)
        .header(UNCOMPRESSED_HEADER.0, UNCOMPRESSED_HEADER.1)
        .body(kube::client::Body::empty())
        .map_err(|error| error.to_string())?;
    let sent = tokio::time::timeout(DEADLINE_OF_LIST_OR_WATCH, client.send(request)).await;
    let response = sent.map_err(|_| no_response_message(DEADLINE_OF_LIST_OR_WATCH))?;
    let response = response.map_err(|error| text_of_failed_call(&error))?;
    if !response.status().is_success() {
        return Err(format!("the API server answers {} to {path}", response.status()));
    }
    let mut body = response.into_body();
    let (mut found, mut rest, mut read) = (Vec::new(), Vec::new(), 0);
    loop {
        let frame = tokio::time::timeout(DEADLINE_OF_LIST_OR_WATCH, body.frame()).await;
        let Some(frame) = frame.map_err(|_| no_response_message(DEADLINE_OF_LIST_OR_WATCH))? else { break };
        let Ok(data) = frame.map_err(|error| text_of_failed_call(&error))?.into_data() else { continue };
        read += data.len();
        rest.extend_from_slice(&data);
        // The part behind the last line feed waits for the next frame.
        let tail = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let next = rest.split_off(tail);
        for line in rest.split(|byte| *byte == b'\n').map(text_with_replaced_bytes) {
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
pub async fn ask_access_review(client: &Client, kind: &str, spec: &Value) -> Result<bool, String> {
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
