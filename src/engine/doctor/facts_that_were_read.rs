//! What was read, for the checks to decide on.

use super::check_outcome::DoctorCheckOutcome;
use super::probe_pods_and_their_answers::Answer;
use super::what_is_read::{CONFIG_MAPS, PROFILES, Source};
use crate::snapshot::Snapshot;
use serde_json::Value;
use std::collections::BTreeMap;

/// Everything that was read.
#[derive(Debug)]
pub struct Facts {
    /// Namespace of the installation.
    pub namespace: String,
    /// Version of this program.
    pub version: String,
    /// This machine's clock (Unix seconds).
    pub now: i64,
    /// Clock of the API server by its header `Date` (Unix seconds); `None` where it sent none.
    pub api_clock: Option<i64>,
    /// `/version` of the API server.
    pub api_version: Value,
    /// Objects by the plural of their kind.
    pub objects: BTreeMap<String, Vec<Value>>,
    /// Why a kind could not be read, by its plural.
    pub unread: BTreeMap<String, String>,
    /// Files of profiles that cannot be read as objects, and why.
    pub broken_files: Vec<String>,
    /// Profiles, nodes, networks and namespaces, as decisions see them.
    pub snapshot: Snapshot,
    /// The caller's rights for the checks.
    pub own_rights: Result<Vec<Right>, String>,
    /// The caller's rights that an installation needs.
    pub install_rights: Result<Vec<Right>, String>,
    /// The rights of the installed service account.
    pub server_rights: Result<Vec<Right>, String>,
    /// Certificates of replicas that were reached, and those of Secrets.
    pub certificates: Vec<Certificate>,
    /// Replicas by address, and why one was not reached.
    pub replicas: Vec<Replica>,
    /// Lines of the API server's metrics about our webhooks.
    pub metrics: Result<Vec<String>, String>,
    /// Dry runs; or why none was made.
    pub calls: Result<Tried, NotTried>,
}

/// A right, and whether it is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Right {
    /// Verb.
    pub verb: String,
    /// API group; empty for the core group.
    pub group: String,
    /// Plural of the kind, with the subresource.
    pub resource: String,
    /// Namespace; empty for all.
    pub namespace: String,
    /// Name; empty for all.
    pub name: String,
    /// Whether it is there.
    pub allowed: bool,
}

impl Right {
    /// A right that has not been asked for yet.
    #[must_use]
    pub fn new(verb: &str, group: &str, resource: &str) -> Self {
        let own = str::to_owned;
        Self { verb: own(verb), group: own(group), resource: own(resource), ..Self::default() }
    }

    /// The same in one namespace.
    #[must_use]
    pub fn in_namespace(self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), ..self }
    }

    /// The same for one object.
    #[must_use]
    pub fn for_object(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }
}

impl std::fmt::Display for Right {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { verb, group, resource, namespace, name, .. } = self;
        write!(f, "{verb} {resource}")?;
        if !group.is_empty() {
            write!(f, ".{group}")?;
        }
        if !name.is_empty() {
            write!(f, " {name}")?;
        }
        if namespace.is_empty() { Ok(()) } else { write!(f, " in {namespace}") }
    }
}

/// A certificate, and whether each webhook's caBundle trusts it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Who serves or keeps it, such as `replica 10.0.0.7:10250` or `Secret fabric-admission/fabric-admission-ca`.
    pub owner: String,
    /// First second of its validity.
    pub from: i64,
    /// Last second of its validity.
    pub until: i64,
    /// By webhook: why the API server would refuse it; `None` where it would trust it.
    pub trust: BTreeMap<String, Option<String>>,
}

/// A replica of the endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replica {
    /// Address and port.
    pub address: String,
    /// Why it could not be asked for its certificate from this machine; `None` where it answered.
    pub unreached: Option<String>,
}

/// Two dry runs in one namespace.
#[derive(Debug)]
pub struct Tried {
    /// The namespace.
    pub namespace: String,
    /// The profile that both pods name.
    pub profile: String,
    /// The answer to a pod that the webhook must change.
    pub good: Answer,
    /// The answer to a pod that the webhook must refuse.
    pub bad: Answer,
}

/// Why no pod was tried, and what makes it possible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotTried {
    /// The reason.
    pub why: String,
    /// The command.
    pub hint: String,
    /// Whether the reason is that something could not be read.
    pub unread: bool,
}

impl Default for Facts {
    /// Nothing was read.
    fn default() -> Self {
        let not_read = || "not read".to_owned();
        Self {
            namespace: String::new(),
            version: String::new(),
            now: 0,
            api_clock: None,
            api_version: Value::Null,
            objects: BTreeMap::new(),
            unread: BTreeMap::new(),
            broken_files: Vec::new(),
            snapshot: Snapshot::default(),
            own_rights: Err(not_read()),
            install_rights: Err(not_read()),
            server_rights: Err(not_read()),
            certificates: Vec::new(),
            replicas: Vec::new(),
            metrics: Err(not_read()),
            calls: Err(NotTried { why: not_read(), ..NotTried::default() }),
        }
    }
}

impl Facts {
    /// Objects of a kind.
    ///
    /// # Errors
    /// A skipped check, where the kind could not be read.
    pub(super) fn objects_or_skip(&self, source: &Source) -> Result<&[Value], DoctorCheckOutcome> {
        self.skip_if_unread(source)?;
        Ok(self.objects.get(source.plural).map(Vec::as_slice).unwrap_or_default())
    }

    /// Whether a kind of the Snapshot is known.
    ///
    /// # Errors
    /// A skipped check, where the kind could not be read.
    pub(super) fn skip_if_unread(&self, source: &Source) -> Result<(), DoctorCheckOutcome> {
        match self.unread.get(source.plural) {
            Some(why) => {
                Err(DoctorCheckOutcome::skipped(format!("{} could not be read: {why}", source.plural)))
            }
            None => Ok(()),
        }
    }

    /// Whether all profiles are known: those of the cluster, and those of the server's files.
    ///
    /// # Errors
    /// A skipped check, where either could not be read.
    pub(super) fn skip_if_profiles_unread(&self) -> Result<(), DoctorCheckOutcome> {
        self.skip_if_unread(&PROFILES)?;
        self.skip_if_unread(&CONFIG_MAPS)
    }

    /// The one object of a name.
    ///
    /// # Errors
    /// A skipped check, where the kind could not be read.
    pub(super) fn object_by_name_or_skip(
        &self,
        source: &Source,
        name: &str,
    ) -> Result<Option<&Value>, DoctorCheckOutcome> {
        Ok(self
            .objects_or_skip(source)?
            .iter()
            .find(|object| text_at_pointer(object, "/metadata/name") == name))
    }
}

/// The text at a pointer; empty where there is none.
pub(super) fn text_at_pointer<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a pointer; empty where there is none.
pub(super) fn list_at_pointer<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
