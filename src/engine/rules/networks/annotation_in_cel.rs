//! The networks annotation: its path, and its grammar in CEL.

/// The annotation in CEL. It is empty if the annotation is missing, or is longer than CEL may match.
pub(super) const CEL_NETWORKS: &str = "variables.annotations[?'k8s.v1.cni.cncf.io/networks'].orValue('').size() > 8000 ? '' :\n\
                                       variables.annotations[?'k8s.v1.cni.cncf.io/networks'].orValue('')";

pub(super) const LABEL_PATTERN: &str = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

pub(super) const INTERFACE_PATTERN: &str = "[a-z0-9]{1,15}";

/// A regular expression for annotations in the short form. It does not match very long names or unusual interface
/// names.
pub(super) fn short_form_pattern() -> String {
    let item = format!("({LABEL_PATTERN}/)?{LABEL_PATTERN}(@{INTERFACE_PATTERN})?");
    format!("^[ ]*{item}([ ]*,[ ]*{item})*[ ]*$")
}
