//! Who asked for what, for the log: the answer itself names neither. Everything here is text of the caller, which may have
//! invented it; so it is short, and control characters are escaped.

use super::admission_review::{self, Request};
use super::names_in_metadata::Named;
use crate::json::reader;
use crate::json::types_of_decoded_fields::Text;
use crate::text::{escaped_and_cut, push_escaped_and_cut};
use serde::Deserialize;

/// Longest name that is kept (characters): that of an object (k8s.io/apimachinery pkg/util/validation, DNS-1123).
const MAX_NAME: usize = 253;
/// Longest name of a user that is kept (characters); those of service accounts hold two names of objects.
const MAX_USER: usize = 320;

/// The names in a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestNames {
    /// Namespace; empty for an object of the cluster.
    pub namespace: String,
    /// Kind of the object.
    pub kind: String,
    /// Name of the object, or the prefix of a name that the API server completes, with `*`.
    pub name: String,
    /// The controller that creates the object, as `KIND/NAME`; empty without one.
    pub owner: String,
    /// Name of the user.
    pub user: String,
}

#[derive(Default, Deserialize)]
struct UserInfo<'a> {
    #[serde(borrow, default)]
    username: Option<Text<'a>>,
}

/// Name of the user who made a request; empty where it cannot be read.
pub(super) fn username<O>(request: &Request<'_, O>) -> String {
    let user: Option<UserInfo<'_>> = request.user_info.and_then(|user| reader::read(user.get()).ok());
    user.and_then(|user| user.username).map(|name| name.0.into_owned()).unwrap_or_default()
}

impl RequestNames {
    /// Reads them from the body of a request. It reads the body again, so only what is logged should cost it. A name that
    /// cannot be read stays empty.
    #[must_use]
    pub fn of_body(body: &[u8]) -> Self {
        admission_review::parse(body).map_or_else(|_| Self::default(), |request| Self::of(&request))
    }

    /// Those of a request that is decoded already.
    pub(super) fn of<O: Named>(request: &Request<'_, O>) -> Self {
        let of_object = request.object.as_ref().map(Named::names);
        let metadata = of_object.or_else(|| Some(request.old_object.as_ref()?.names())).unwrap_or_default();
        let text = |text: Option<&str>| escaped_and_cut(text.unwrap_or_default(), MAX_NAME);
        let given = metadata.name.as_deref().filter(|name| !name.is_empty());
        let made = metadata.generate_name.as_deref().filter(|name| !name.is_empty());
        Self {
            namespace: text(request.namespace.as_deref()),
            kind: text(Some(&request.kind.kind)),
            name: match (given, made) {
                (None, Some(made)) => joined(made, '*', ""),
                (given, _) => text(given),
            },
            owner: metadata.controller().map_or_else(String::new, |owner| {
                joined(
                    owner.kind.as_deref().unwrap_or_default(),
                    '/',
                    owner.name.as_deref().unwrap_or_default(),
                )
            }),
            user: escaped_and_cut(&username(request), MAX_USER),
        }
    }
}

/// Two names with a character between them.
fn joined(first: &str, between: char, second: &str) -> String {
    // Nearly every name is written as it is.
    let mut both = String::with_capacity(first.len().min(MAX_NAME) + 1 + second.len().min(MAX_NAME));
    push_escaped_and_cut(&mut both, first, MAX_NAME);
    both.push(between);
    push_escaped_and_cut(&mut both, second, MAX_NAME);
    both
}
