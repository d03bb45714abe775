//! The networks annotation: its path, and its grammar in CEL.

/// The annotation in CEL; empty where there is none, or one that is longer than CEL may match.
pub(super) const CEL_NETWORKS: &str = "variables.annotations[?'k8s.v1.cni.cncf.io/networks'].orValue('').size() > 8000 ? '' :\n\
                                       variables.annotations[?'k8s.v1.cni.cncf.io/networks'].orValue('')";

pub(super) const LABEL: &str = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

pub(super) const INTERFACE: &str = "[a-z0-9]{1,15}";

/// A regular expression for annotations of the short form, those with longer names and odder interfaces left out.
pub(super) fn short_form() -> String {
    let item = format!("({LABEL}/)?{LABEL}(@{INTERFACE})?");
    format!("^[ ]*{item}([ ]*,[ ]*{item})*[ ]*$")
}
