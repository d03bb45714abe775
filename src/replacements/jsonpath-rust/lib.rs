//! The part of jsonpath-rust that kube-client calls: the value at a path of names, such as `$.credential.access_token`,
//! which is what gcloud's `token-key` and `expiry-key` are.

use serde_json::Value;

/// A JSON value that is asked by a path.
pub trait JsonPath {
    /// The value at the path; none where a name is missing.
    ///
    /// # Errors
    /// The path is more than names.
    fn query(&self, path: &str) -> Result<Vec<&Value>, String>;
}

impl JsonPath for Value {
    fn query(&self, path: &str) -> Result<Vec<&Value>, String> {
        let names = path.strip_prefix("$.").ok_or("a path starts with `$.`")?;
        let mut at = Some(self);
        for name in names.split('.') {
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            if name.is_empty() || !name.chars().all(plain) {
                return Err(format!("{name:?}: only names, separated by dots, are supported"));
            }
            at = at.and_then(|value| value.get(name));
        }
        Ok(at.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::JsonPath;
    use serde_json::json;

    #[test]
    fn the_paths_of_gcloud_are_followed() {
        let output = json!({"credential": {"access_token": "t", "token_expiry": "2026-01-01T00:00:00Z"}});
        assert_eq!(output.query("$.credential.access_token").unwrap(), [&json!("t")]);
        assert!(output.query("$.credential.missing").unwrap().is_empty());
        assert!(output.query("$.credential[*]").is_err());
        assert!(output.query("credential").is_err());
    }
}
