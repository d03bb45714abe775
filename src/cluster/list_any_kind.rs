//! One list of any kind, watched or not. A caller gets each page, and nothing is kept. The requests are small for the API server's flow control: the
//! pages are about a megabyte, whatever the size of objects.

use super::call_deadline::{LIST_OR_WATCH, late, reason};
use super::list_pages::{Failure, JSON, get_as};
use super::lossy_utf8::text;
use super::page_size::PageSize;
use super::pause_after_failure_or_absence::PAGE_RETRY;
use super::watch_lines::Page;
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
pub enum Event<'a> {
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
pub async fn read(
    client: &Client,
    listing: &Listing,
    on: &mut dyn FnMut(Event<'_>),
) -> Result<(), ListError> {
    let mut restarts = 0;
    let mut limit = listing.size.most.min(PageSize::FIRST);
    'list: loop {
        let mut next: Option<String> = None;
        loop {
            let accept = if listing.metadata_only { METADATA } else { JSON };
            let what = (listing.path.as_str(), listing.query.as_str(), accept, listing.deadline);
            let bytes = match request_page_until_it_fits(client, what, next.as_deref(), &mut limit, on).await
            {
                Ok(bytes) => bytes,
                Err(Failure::Gone) if restarts < MAX_RESTARTS => {
                    restarts += 1;
                    on(Event::Restarted);
                    continue 'list;
                }
                Err(Failure::Gone) => {
                    return Err(ListError::Failed(format!(
                        "410: the list expired before its last page, {} times",
                        MAX_RESTARTS + 1
                    )));
                }
                Err(Failure::Absent) => return Err(ListError::Absent),
                Err(Failure::Forbidden(why)) => return Err(ListError::Forbidden(why)),
                Err(Failure::Other(why) | Failure::Busy(_, why)) => return Err(ListError::Failed(why)),
            };
            let text = text(&bytes);
            let page: Page<'_> = serde_json::from_str(&text)
                .map_err(|error| ListError::Failed(format!("the list could not be parsed: {error}")))?;
            let items = page.items.unwrap_or_default();
            limit = listing.size.next(bytes.len(), items.len()).unwrap_or(limit);
            on(Event::Page(&items, page.metadata.remaining_item_count));
            next = page.metadata.next.filter(|token| !token.is_empty());
            if next.is_none() {
                return Ok(());
            }
        }
    }
}

/// The usual deadline of one request.
pub const DEADLINE: Duration = LIST_OR_WATCH;

/// One object as JSON.
///
/// # Errors
/// [`ListError`].
pub async fn object(client: &Client, path: &str, deadline: Duration) -> Result<Vec<u8>, ListError> {
    match document(client, path, JSON, deadline).await {
        Ok(bytes) => Ok(bytes),
        Err(Failure::Absent) => Err(ListError::Absent),
        Err(Failure::Forbidden(why)) => Err(ListError::Forbidden(why)),
        Err(Failure::Gone) => Err(ListError::Failed("410".to_owned())),
        Err(Failure::Other(why) | Failure::Busy(_, why)) => Err(ListError::Failed(why)),
    }
}

/// What a path answers, asked for as often as it takes.
pub(super) async fn document(
    client: &Client,
    path: &str,
    accept: &'static str,
    deadline: Duration,
) -> Result<Vec<u8>, Failure> {
    request_page_until_it_fits(client, (path, "", accept, deadline), None, &mut 0, &mut |_| {}).await
}

/// One page, asked for as often as it takes. `limit` is halved where a page is too large; 0 asks for no limit.
async fn request_page_until_it_fits(
    client: &Client,
    (path, query, accept, deadline): (&str, &str, &'static str, Duration),
    token: Option<&str>,
    limit: &mut usize,
    on: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<u8>, Failure> {
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
        let late = || Failure::Other(late(deadline));
        let failure = match attempt.unwrap_or_else(|_| Err(late())) {
            Ok(Some(bytes)) => return Ok(bytes),
            Ok(None) if *limit > 1 => {
                *limit = (*limit / 4).max(1);
                continue;
            }
            Ok(None) => Failure::Other(format!("an object is larger than {} MiB", MAX_PAGE >> 20)),
            Err(failure) => failure,
        };
        match failure {
            Failure::Busy(seconds, why) => {
                busy += 1;
                if busy > MAX_BUSY {
                    return Err(Failure::Other(why));
                }
                let pause = Duration::from_secs(seconds);
                on(Event::Waiting(pause));
                tokio::time::sleep(pause).await;
            }
            Failure::Other(why) => {
                failed += 1;
                if failed > MAX_RETRIES {
                    return Err(Failure::Other(why));
                }
                tokio::time::sleep(PAGE_RETRY.saturating_mul(failed)).await;
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
) -> Result<Option<Vec<u8>>, Failure> {
    let response = get_as(client, path, accept, deadline).await?;
    match Limited::new(response.into_body(), MAX_PAGE).collect().await {
        Err(error) if error.is::<LengthLimitError>() => Ok(None),
        Err(error) => Err(Failure::Other(format!("the response was interrupted: {}", reason(&*error)))),
        Ok(body) => Ok(Some(body.to_bytes().to_vec())),
    }
}
