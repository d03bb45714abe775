//! AdmissionReview v1 as the API server sends it. A created pod is decoded together with the envelope, in one pass. Other
//! objects stay raw text, for the reader of their kind: decoding them through generic types costs more than everything
//! else together.

use crate::json::types_of_decoded_fields::Text;
use crate::json::{decode_with_place, reader};
use crate::pod::PodView;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Longest name of an object (bytes): k8s.io/apimachinery pkg/util/validation, `DNS1123SubdomainMaxLength`. Each look-up of
/// what belongs to the namespace compares its name.
const MAX_NAME: usize = 253;

/// Longest uid (bytes). The API server writes a UUID, which has 36 (k8s.io/apimachinery pkg/util/uuid). The answer repeats it.
const MAX_UID: usize = 253;

/// The request envelope, with the object as raw text or decoded.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "O: Deserialize<'de>"))]
pub struct AdmissionReview<'a, O = &'a RawValue> {
    /// `admission.k8s.io/v1`.
    #[serde(borrow, default)]
    pub api_version: Option<Text<'a>>,
    /// `AdmissionReview`.
    #[serde(borrow, default)]
    pub kind: Option<Text<'a>>,
    /// The request.
    #[serde(borrow, default, deserialize_with = "crate::json::types_of_decoded_fields::optional_struct")]
    pub request: Option<Request<'a, O>>,
}

/// `request`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "O: Deserialize<'de>"))]
pub struct Request<'a, O = &'a RawValue> {
    /// Echoed in the response.
    #[serde(borrow, default)]
    pub uid: Text<'a>,
    /// Kind of the object, in the version that the webhook is registered for.
    #[serde(borrow, default)]
    pub kind: GroupVersionKind<'a>,
    /// `status`, `ephemeralcontainers`, … where the request is for a part of the object.
    #[serde(borrow, default)]
    pub sub_resource: Option<Text<'a>>,
    /// Namespace; the object's own may be empty.
    #[serde(borrow, default)]
    pub namespace: Option<Text<'a>>,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    #[serde(borrow, default)]
    pub operation: Text<'a>,
    /// The user who asked, undecoded: only the log of a denial names it.
    #[serde(borrow, default)]
    pub user_info: Option<&'a RawValue>,
    /// The object; absent on DELETE.
    #[serde(default = "none")]
    pub object: Option<O>,
    /// The object as it was; absent on CREATE.
    #[serde(borrow, default)]
    pub old_object: Option<&'a RawValue>,
}

impl<O> Request<'_, O> {
    /// The namespace of a namespaced object. The API server always names it.
    pub(super) fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or("default")
    }
}

fn none<T>() -> Option<T> {
    None
}

/// `request.kind`.
#[derive(Debug, Default, Deserialize)]
pub struct GroupVersionKind<'a> {
    /// API group; empty for the core group.
    #[serde(borrow, default)]
    pub group: Text<'a>,
    /// Version.
    #[serde(borrow, default)]
    pub version: Text<'a>,
    /// Kind.
    #[serde(borrow, default)]
    pub kind: Text<'a>,
}

/// Why a request is not answered; the server returns 400, except where it is late.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Not UTF-8.
    #[error("the body is not UTF-8")]
    Encoding,
    /// Not JSON, or fields of other types.
    #[error("the body is not an AdmissionReview: {0}")]
    Json(String),
    /// Another kind or version.
    #[error("expected admission.k8s.io/v1 AdmissionReview, found {0}")]
    Kind(String),
    /// A response, or nothing.
    #[error("the AdmissionReview has no request")]
    NoRequest,
    /// A namespace whose name Kubernetes does not allow.
    #[error("the namespace of the request has a name of {0} bytes; names have at most {MAX_NAME}")]
    Namespace(usize),
    /// A uid that no API server writes.
    #[error("the uid of the request has {0} bytes; a uid has at most {MAX_UID}")]
    Uid(usize),
    /// A request without the id that the answer must carry.
    #[error("the request has no uid")]
    NoUid,
    /// A CREATE or UPDATE without an object.
    #[error("the request has no object")]
    NoObject,
    /// A pod whose fields have other types than the API's.
    #[error("the object cannot be read: {0}")]
    Object(crate::json::decode_with_place::DecodeError),
    /// The time limit is over, and the decision is incomplete.
    #[error("the decision takes longer than the API server waits")]
    Late,
}

/// The text of a body.
///
/// # Errors
/// [`RequestError::Encoding`].
pub(super) fn text(body: &[u8]) -> Result<&str, RequestError> {
    std::str::from_utf8(body).map_err(|_| RequestError::Encoding)
}

/// Reads a body.
///
/// # Errors
/// [`RequestError`], for which the server answers 400 and failurePolicy decides.
pub fn parse(body: &[u8]) -> Result<Request<'_>, RequestError> {
    let text = text(body)?;
    let review: AdmissionReview<'_> = decode_with_place::decode_object(text)
        .map_err(|error| RequestError::Json(error.message_with_place()))?;
    request_of_valid_envelope(review)
}

/// Reads the review of a pod, and the pod with it. The pod is thus read once: as raw text it is read to find its end, and
/// again as a pod. `None` where that does not succeed; [`parse`] and the decoder of the object then know why.
pub(super) fn parse_with_pod(text: &str) -> Option<Request<'_, PodView<'_>>> {
    request_of_valid_envelope(reader::read::<AdmissionReview<'_, PodView<'_>>>(text).ok()?).ok()
}

fn request_of_valid_envelope<O>(review: AdmissionReview<'_, O>) -> Result<Request<'_, O>, RequestError> {
    let (version, kind) = (review.api_version.as_deref(), review.kind.as_deref());
    if (version, kind) != (Some("admission.k8s.io/v1"), Some("AdmissionReview")) {
        let found = format!("{} {}", version.unwrap_or("no apiVersion"), kind.unwrap_or("no kind"));
        return Err(RequestError::Kind(crate::text::escaped_and_cut(&found, 100)));
    }
    let request = review.request.ok_or(RequestError::NoRequest)?;
    let namespace = request.namespace.as_ref().map_or(0, |name| name.len());
    if namespace > MAX_NAME {
        return Err(RequestError::Namespace(namespace));
    }
    match request.uid.len() {
        0 => Err(RequestError::NoUid),
        length if length > MAX_UID => Err(RequestError::Uid(length)),
        _ => Ok(request),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_has_a_short_name() {
        let of = |length: usize| {
            let namespace = "n".repeat(length);
            let body = format!(
                r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","namespace":"{namespace}"}}}}"#
            );
            parse(body.as_bytes()).map(|request| request.namespace().len())
        };
        assert_eq!(of(253), Ok(253));
        assert_eq!(of(254), Err(RequestError::Namespace(254)));
    }

    #[test]
    fn a_uid_is_short() {
        let of = |length: usize| {
            let uid = "u".repeat(length);
            let body = format!(
                r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"{uid}"}}}}"#
            );
            parse(body.as_bytes()).map(|request| request.uid.len())
        };
        assert_eq!((of(253), of(254)), (Ok(253), Err(RequestError::Uid(254))));
    }
}
