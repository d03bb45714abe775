//! `explain` of everything that a reader has at hand: a rule, a variable, an annotation, a line of a log.

use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{root, run};

pub(crate) fn add(suite: &mut Suite) {
    for (name, words, parts) in [
        (
            "memlock",
            "h7:31:99 [2] NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
            &["from: NCCL", "IPC_LOCK", "FAB507"][..],
        ),
        ("no_device", "NCCL INFO NET/IB : No device found.", &["NCCL then uses TCP", "FAB412"]),
        (
            "network",
            "cannot find a network-attachment-definition (rail0) in namespace (training): not found",
            &["Multus", "FAB106"],
        ),
        ("kubelet", "UnexpectedAdmissionError", &["kubelet", "device plugin"]),
        (
            "certificate",
            "failed calling webhook \"enforce.fabric-admission.dev\": x509: certificate signed by unknown authority",
            &["API server", "caBundle"],
        ),
        ("timeout", "failed calling webhook: context deadline exceeded", &["API server", "firewall"]),
        ("profile", "fabric-admission.dev/profile", &["FabricProfile", "Example", "FAB804"]),
        ("ignore", "fabric-admission.dev/ignore.FAB501", &["reason", "FAB815"]),
        ("networks", "k8s.v1.cni.cncf.io/networks", &["Multus", "FAB101"]),
        ("label", "fabric-admission.dev/mode=enforce", &["Namespace", "FAB817"]),
    ] {
        suite.add(format!("explain::{name}"), move || {
            let ran = run(&["explain", words], b"", root())?;
            same("exit code", 0, ran.code)?;
            for part in parts {
                same(&format!("{part:?} in {}", ran.stdout), true, ran.stdout.contains(part))?;
            }
            let long = ran.stdout.lines().filter(|line| line.chars().count() > 100).count();
            Ok(same("lines over 100 columns", 0, long)?)
        });
    }
    suite.add("explain::words_need_no_quotes", || {
        let ran = run(&["explain", "Call", "to", "ibv_reg_mr", "failed"], b"", root())?;
        Ok(same("exit code", 0, ran.code)?)
    });
    for (name, words, hint) in [
        ("annotation", "fabric-admission.dev/profil", "did you mean fabric-admission.dev/profile?"),
        ("variable", "NCCL_IB_HCAS", "did you mean NCCL_IB_HCA?"),
        (
            "line",
            "cannot reach the network-attachment-definition of Multus",
            "did you mean \"cannot find a network-attachment-definition\"?",
        ),
        ("other_line", "segmentation fault in libfoo", "no known line of a log has these words."),
    ] {
        suite.add(format!("explain::unknown_{name}"), move || {
            let ran = run(&["explain", words], b"", root())?;
            same("exit code", 2, ran.code)?;
            same("stdout", "", ran.stdout.as_str())?;
            Ok(same(&format!("{hint} in {}", ran.stderr), true, ran.stderr.contains(hint))?)
        });
    }
}
