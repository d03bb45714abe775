//! The part of serde-saphyr that kube-client calls, by the YAML reader of this project. kubectl reads both texts with
//! the YAML of `sigs.k8s.io/yaml`, so a kubeconfig means here what it means there.

use fabric_admission_manifest::manifest::{DocumentOrError, read_documents_of_file};
use serde::de::DeserializeOwned;
use std::fmt;

/// Why a text cannot be read.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// The documents of a kubeconfig; none for an empty text.
///
/// # Errors
/// The first document that is not YAML, or not a `T`.
pub fn from_multiple<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Error> {
    documents(text.as_bytes())
}

/// The first document: what a credential plugin writes.
///
/// # Errors
/// The text has no document, or one that is not a `T`.
pub fn from_slice<T: DeserializeOwned>(text: &[u8]) -> Result<T, Error> {
    documents(text)?.into_iter().next().ok_or_else(|| Error("no document".to_owned()))
}

fn documents<T: DeserializeOwned>(text: &[u8]) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    for item in read_documents_of_file("", text) {
        match item {
            DocumentOrError::Document(document) => found.push(decode(document.json.get(), document.line)?),
            DocumentOrError::Error(error) => {
                return Err(Error(format!(
                    "line {}, column {}: {}",
                    error.line, error.column, error.message
                )));
            }
            DocumentOrError::Empty { .. } => {}
        }
    }
    Ok(found)
}

fn decode<T: DeserializeOwned>(json: &str, line: u32) -> Result<T, Error> {
    serde_json::from_str(json).map_err(|error| {
        // The place is one in the JSON, which nobody sees.
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        Error(format!("the document at line {line}: {message}"))
    })
}

#[cfg(test)]
mod tests;
