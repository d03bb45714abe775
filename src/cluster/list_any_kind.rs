//! One list of any kind, watched or not. A caller gets each page, and nothing is kept. The requests are small for the API server's flow control: the
//! pages are about a megabyte, whatever the size of objects.

use super::call_deadline_and_failure_text::{
    DEADLINE_OF_LIST_OR_WATCH, no_response_message, text_of_failed_call,
};
use super::json_of_watch_events_and_pages::Page;
use super::list_watched_kind_into_builder::{JSON, ListOrWatchFailure, get_in_form};
use super::lossy_utf8::text_with_replaced_bytes;
use super::page_size::PageSize;
use super::pause_after_failure_or_absence::FIRST_PAUSE_OF_LISTED_PAGE;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use kube::Client;
use serde_json::value::RawValue;
use std::time::Duration;

/// Most bytes of a page.
const MAX_PAGE: usize = 32 << 20;
/// Times that a list is begun again because its past is gone, before it counts as failed.
const MAX_RESTARTS: usize = 3;
/// Times that a page is asked for again, where the request fails.
const MAX_RETRIES: u32 = 2;
/// Times in a row that the API server may say that it is busy.
const MAX_BUSY: usize = 30;
/// Items without their fields, but for `metadata`.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// What to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Path of the objects.
    pub path: String,
    /// Whether only their metadata is needed.
    pub metadata_only: bool,
    /// Which of them, as a part of the request, such as `labelSelector=a%3Db`; empty for all.
    pub query: String,
    /// Sizes of its pages.
    pub size: PageSize,
    /// Deadline of one request.
    pub deadline: Duration,
}

/// What happens while a list is read.
#[derive(Debug)]
pub enum ListEvent<'a> {
    /// A page: its objects, and how many are behind it, where the API server knows that.
    Page(&'a [&'a RawValue], Option<u64>),
    /// The list begins again: everything of it so far counts for nothing.
    Restarted,
    /// The API server asks to wait.
    Waiting(Duration),
}

/// Why a list has no end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The kind is not served.
    #[error("the API server does not serve this kind")]
    Absent,
    /// It may not be read.
    #[error("{0}")]
    Forbidden(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// Reads a list to its end.
///
/// # Errors
/// [`ListError`]; pages before it have been shown.
pub async fn read_list_page_by_page(
    client: &Client,
    listing: &Listing,
    on: &mut dyn FnMut(ListEvent<'_>),
) -> Result<(), ListError> {
    let mut restarts = 0;
    let mut limit = listing.size.most.min(PageSize::FIRST);
    'list: loop {
        let mut next: Option<String> = None;
        loop {
            let accept = if listing.metadata_only { METADATA } else { JSON };
            let what = (listing.path.as_str(), listing.query.as_str(), accept, listing.deadline);
            let bytes = match request_page_with_retries(client, what, next.as_deref(), &mut limit, on).await {
                Ok(bytes) => bytes,
                Err(ListOrWatchFailure::Gone) if restarts < MAX_RESTARTS => {
                    restarts += 1;
                    on(ListEvent::Restarted);
                    continue 'list;
                }
                Err(ListOrWatchFailure::Gone) => {
                    return Err(ListError::Failed(format!(
                        "410: the list expired before its last page, {} times",
                        MAX_RESTARTS + 1
                    )));
                }
                Err(ListOrWatchFailure::Absent) => return Err(ListError::Absent),
                Err(ListOrWatchFailure::Forbidden(why)) => return Err(ListError::Forbidden(why)),
                Err(ListOrWatchFailure::Other(why) | ListOrWatchFailure::Busy(_, why)) => {
                    return Err(ListError::Failed(why));
                }
            };
            let text = text_with_replaced_bytes(&bytes);
            let page: Page<'_> = serde_json::from_str(&text)
                .map_err(|error| ListError::Failed(format!("the list could not be parsed: {error}")))?;
            let items = page.items.unwrap_or_default();
            limit = listing.size.next(bytes.len(), items.len()).unwrap_or(limit);
            on(ListEvent::Page(&items, page.metadata.remaining_item_count));
            next = page.metadata.next.filter(|token| !token.is_empty());
            if next.is_none() {
                return Ok(());
            }
        }
    }
}

/// The usual deadline of one request.
pub const DEADLINE: Duration = DEADLINE_OF_LIST_OR_WATCH;

/// One object as JSON.
///
/// # Errors
/// [`ListError`].
pub async fn read_object_as_bytes(
    client: &Client,
    path: &str,
    deadline: Duration,
) -> Result<Vec<u8>, ListError> {
    match get_path_with_retries(client, path, JSON, deadline).await {
        Ok(bytes) => Ok(bytes),
        Err(ListOrWatchFailure::Absent) => Err(ListError::Absent),
        Err(ListOrWatchFailure::Forbidden(why)) => Err(ListError::Forbidden(why)),
        Err(ListOrWatchFailure::Gone) => Err(ListError::Failed("410".to_owned())),
        Err(ListOrWatchFailure::Other(why) | ListOrWatchFailure::Busy(_, why)) => Err(ListError::Failed(why)),
    }
}

/// What a path answers, asked for as often as it takes.
pub(super) async fn get_path_with_retries(
    client: &Client,
    path: &str,
    accept: &'static str,
    deadline: Duration,
) -> Result<Vec<u8>, ListOrWatchFailure> {
    request_page_with_retries(client, (path, "", accept, deadline), None, &mut 0, &mut |_| {}).await
}

/// One page, asked for as often as it takes. `limit` is halved where a page is too large; 0 asks for no limit.
async fn request_page_with_retries(
    client: &Client,
    (path, query, accept, deadline): (&str, &str, &'static str, Duration),
    token: Option<&str>,
    limit: &mut usize,
    on: &mut dyn FnMut(ListEvent<'_>),
) -> Result<Vec<u8>, ListOrWatchFailure> {
    let (mut failed, mut busy) = (0_u32, 0_usize);
    loop {
        let mut path = path.to_owned();
        if *limit > 0 {
            path.push_str(&format!("?limit={limit}"));
        }
        if !query.is_empty() {
            path.push('&');
            path.push_str(query);
        }
        if let Some(token) = token {
            path.push_str("&continue=");
            path.extend(form_urlencoded::byte_serialize(token.as_bytes()));
        }
        let attempt = tokio::time::timeout(deadline, attempt(client, &path, accept, deadline)).await;
        let late = || ListOrWatchFailure::Other(no_response_message(deadline));
        let failure = match attempt.unwrap_or_else(|_| Err(late())) {
            Ok(Some(bytes)) => return Ok(bytes),
            Ok(None) if *limit > 1 => {
                *limit = (*limit / 4).max(1);
                continue;
            }
            Ok(None) => ListOrWatchFailure::Other(format!("an object is larger than {} MiB", MAX_PAGE >> 20)),
            Err(failure) => failure,
        };
        match failure {
            ListOrWatchFailure::Busy(seconds, why) => {
                busy += 1;
                if busy > MAX_BUSY {
                    return Err(ListOrWatchFailure::Other(why));
                }
                let pause = Duration::from_secs(seconds);
                on(ListEvent::Waiting(pause));
                tokio::time::sleep(pause).await;
            }
            ListOrWatchFailure::Other(why) => {
                failed += 1;
                if failed > MAX_RETRIES {
                    return Err(ListOrWatchFailure::Other(why));
                }
                tokio::time::sleep(FIRST_PAUSE_OF_LISTED_PAGE.saturating_mul(failed)).await;
            }
            other => return Err(other),
        }
    }
}

/// One request; `None` where the answer is too large.
async fn attempt(
    client: &Client,
    path: &str,
    accept: &'static str,
    deadline: Duration,
) -> Result<Option<Vec<u8>>, ListOrWatchFailure> {
    let response = get_in_form(client, path, accept, deadline).await?;
    match Limited::new(response.into_body(), MAX_PAGE).collect().await {
        Err(error) if error.is::<LengthLimitError>() => Ok(None),
        Err(error) => Err(ListOrWatchFailure::Other(format!(
            "the response was interrupted: {}",
            text_of_failed_call(&*error)
        ))),
        Ok(body) => Ok(Some(body.to_bytes().to_vec())),
    }
}
