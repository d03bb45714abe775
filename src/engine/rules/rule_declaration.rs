//! The declaration of a rule: what it checks, what its findings may do, and where its text is. Nothing else in the
//! product names a rule by its id.

use super::finding::{FindingsOfRule, Severity};
use super::object_context::ObjectContext;
use super::parse_page_of_rule::Page;
use super::pod_context::PodContext;
use super::rules_in_cel::Cel;
use super::workload_context::WorkloadContext;

/// A rule. Its folder has the declaration and the checks in `mod.rs`, the text in `page.md`, and the two examples in
/// `bad.yaml` and `good.yaml`.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// `FABnnn`; the first digit is the group. Never reused.
    pub id: &'static str,
    /// The most severe finding it makes.
    pub severity: Severity,
    /// Why a finding of it is less severe, by that severity. A finding carries the reason.
    pub lesser: &'static [(Severity, &'static str)],
    /// Whether its findings of severity info are about settings that people make on purpose. A review as text shows them
    /// with `--verbose` only.
    pub quiet: bool,
    /// Whether its findings call a placeholder by that name. Of the findings that the placeholders of a file cause, a
    /// review shows one, preferably such a one.
    pub names_placeholders: bool,
    /// Whether it is about how a file writes an object. The review reports it as it reads files; no check finds it.
    pub of_files: bool,
    /// Its text and examples.
    pub files: Files,
    /// First version that has it.
    pub since: &'static str,
    /// Group and kind of the objects it checks; empty for rules on pods.
    pub kinds: &'static [(&'static str, &'static str)],
    /// Group and kind of further objects that may hold what it checks, among much else. The webhook is not called for
    /// them: only reviews and audits check them.
    pub may_hold: &'static [(&'static str, &'static str)],
    /// Whether an annotation of the pod may set its findings aside.
    pub waiver: MayBeIgnored,
    /// Which pods it checks.
    pub reach: PodsChecked,
    /// Whether it also checks a stored pod when its networks annotations change. Other fields of a pod hardly change.
    pub on_change: bool,
    /// Whether its errors deny before all mutating webhooks have run. For most rules a later webhook may still fix the
    /// pod.
    pub denies_before_final: bool,
    /// Whether it is checked at one point of admission only; that nothing is found elsewhere proves nothing.
    pub at_one_point: bool,
    /// Whether it checks only that an object can be read and used, and no field for its own sake.
    pub reads_only: bool,
    /// Checks a pod, as it would be with the plan applied.
    pub(super) pod: Option<PodCheck>,
    /// Checks a workload: its pod templates together, and its own fields.
    pub(super) workload: Option<WorkloadCheck>,
    /// Checks an object of one of `kinds`.
    pub(super) object: Option<ObjectCheck>,
    /// Checks such an object that is being deleted.
    pub(super) deletion: Option<ObjectCheck>,
    /// The part that the API server can judge by itself.
    pub(super) cel: Option<fn() -> Cel>,
}

/// A check of a pod.
pub(super) type PodCheck = fn(&PodContext<'_>, &mut FindingsOfRule<'_>);
/// A check of a workload.
pub(super) type WorkloadCheck = fn(&WorkloadContext<'_>, &mut FindingsOfRule<'_>);
/// A check of another object.
pub(super) type ObjectCheck = fn(&ObjectContext<'_>, &mut FindingsOfRule<'_>);

/// The files of a rule's folder.
#[derive(Debug, Clone, Copy)]
pub struct Files {
    /// `page.md`, see [`Page`].
    pub page: &'static str,
    /// `bad.yaml`, a manifest that it reports.
    pub bad: &'static str,
    /// `good.yaml`, the same manifest fixed.
    pub good: &'static str,
    /// Why the folder has no examples; empty where it has both.
    pub no_example: &'static str,
}

/// Whether annotation `fabric-admission.dev/ignore.FABnnn: REASON` sets findings of a rule aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayBeIgnored {
    /// With a reason; errors only where the profile allows it.
    Allowed,
    /// Never: the rule keeps tenants apart.
    Isolation,
    /// Never: the API server refuses the shape, whatever we say.
    Api,
    /// Never: the rule is about such annotations.
    Itself,
    /// Never: the rule is about the text of the file, and the object does not show it.
    File,
}

/// Which pods a rule checks. A pod without accelerators is never changed, and is refused only for what cannot work in any
/// pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodsChecked {
    /// Those that request accelerators or name a profile.
    Accelerated,
    /// Also those that only have networks, devices or variables of a fabric. Its findings there are warnings at most: such a
    /// pod may work without the fabric.
    AnyWarns,
    /// The same with its own severity: no container of such a pod starts, whatever it is for.
    Any,
}

impl Rule {
    /// What most declarations leave out.
    pub(super) const DEFAULT: Self = Self {
        id: "",
        severity: Severity::Info,
        lesser: &[],
        quiet: false,
        names_placeholders: false,
        of_files: false,
        files: Files { page: "", bad: "", good: "", no_example: "" },
        since: "0.1.0",
        kinds: &[],
        may_hold: &[],
        waiver: MayBeIgnored::Allowed,
        reach: PodsChecked::Accelerated,
        on_change: false,
        denies_before_final: false,
        at_one_point: false,
        reads_only: false,
        pod: None,
        workload: None,
        object: None,
        deletion: None,
        cel: None,
    };

    /// Whether it checks objects of a kind.
    #[must_use]
    pub fn does_check_kind(&self, kind: (&str, &str)) -> bool {
        self.kinds.contains(&kind) || self.may_hold.contains(&kind)
    }

    /// Name of the group that the id belongs to, which is the name of the group's folder.
    #[must_use]
    pub fn group(&self) -> &'static str {
        match self.id.as_bytes().get(3) {
            Some(b'1') => "networks",
            Some(b'2') => "resources",
            Some(b'3') => "operators",
            Some(b'4') => "nccl",
            Some(b'5') => "memory_security",
            Some(b'6') => "cloud",
            Some(b'7') => "placement",
            Some(b'9') => "inputs",
            _ => "profiles",
        }
    }

    /// Its text. A page that cannot be parsed is an empty one; a test parses them all.
    #[must_use]
    pub fn page(&self) -> Page {
        Page::parse(self.files.page).unwrap_or_default()
    }

    /// The part that the API server can judge by itself; `None` for rules that need more than one object.
    #[must_use]
    pub fn cel(&self) -> Option<Cel> {
        self.cel.map(|cel| cel())
    }
}

impl MayBeIgnored {
    /// How findings of a rule are set aside, or why they are not: one sentence.
    #[must_use]
    pub fn how_to_ignore_in_words(self, id: &str) -> String {
        match self {
            Self::Allowed => format!(
                "set the annotation `fabric-admission.dev/ignore.{id}` to your reason. An error can be ignored only if the profile allows it"
            ),
            Self::Isolation => "not possible: this rule keeps the networks of namespaces apart".to_owned(),
            Self::Api => "not possible: the API server refuses such an object anyway".to_owned(),
            Self::Itself => "not possible: this rule checks the annotations that ignore findings".to_owned(),
            Self::File => "not possible: correct the file".to_owned(),
        }
    }
}

/// The files in the folder of the rule's `mod.rs`.
macro_rules! files {
    () => {
        $crate::rules::rule_declaration::Files {
            page: include_str!("page.md"),
            bad: include_str!("bad.yaml"),
            good: include_str!("good.yaml"),
            no_example: "",
        }
    };
    (no_example: $why:literal) => {
        $crate::rules::rule_declaration::Files {
            page: include_str!("page.md"),
            bad: "",
            good: "",
            no_example: $why,
        }
    };
}
pub(super) use files;
