//! The trials, and what this machine lacks for some of them.

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

/// How a trial ends.
pub(crate) type Outcome = Result<(), Failed>;

/// What a trial needs beyond a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// The shared data: corpus, recorded reviews, tables.
    Shared,
    /// `kubectl` and the servers of envtest.
    E2e,
    /// libfaketime, which gives a process another clock.
    Faketime,
    /// Helm, of any version.
    Helm,
    /// `prometheus` and `promtool`.
    Prometheus,
    /// A static binary, buildah, skopeo, umoci, and runc or crun.
    Image,
    /// The JSON schema of SARIF 2.1.0, a file of OASIS.
    Sarif,
}

impl Need {
    /// Its name in `FABRIC_ADMISSION_REQUIRE`.
    fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::E2e => "e2e",
            Self::Faketime => "faketime",
            Self::Helm => "helm",
            Self::Prometheus => "prometheus",
            Self::Image => "image",
            Self::Sarif => "sarif",
        }
    }

    /// Where it is.
    pub(crate) fn find(self) -> Option<PathBuf> {
        match self {
            Self::Shared => {
                let given = std::env::var_os("FABRIC_ADMISSION_SHARED").map(PathBuf::from);
                let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
                let path = given.unwrap_or(beside).canonicalize().ok()?;
                path.join("corpus/README.md").is_file().then_some(path)
            }
            Self::E2e => {
                let given = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
                let path = given.unwrap_or_else(|| PathBuf::from("/usr/local/kubebuilder/bin"));
                ["kubectl", "etcd", "kube-apiserver"].iter().all(|f| path.join(f).is_file()).then_some(path)
            }
            Self::Faketime => {
                let given = std::env::var_os("FABRIC_ADMISSION_FAKETIME").map(PathBuf::from);
                let usual = ["x86_64", "aarch64"].map(|arch| {
                    PathBuf::from(format!("/usr/lib/{arch}-linux-gnu/faketime/libfaketimeMT.so.1"))
                });
                given.into_iter().chain(usual).find(|path| path.is_file())
            }
            Self::Helm => super::helm::find(),
            Self::Prometheus => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                std::env::split_paths(&path).find(|directory| {
                    ["prometheus", "promtool"].iter().all(|tool| directory.join(tool).is_file())
                })
            }
            Self::Sarif => std::env::var_os("FABRIC_ADMISSION_SARIF_SCHEMA")
                .map(PathBuf::from)
                .filter(|path| path.is_file()),
            Self::Image => {
                let given = std::env::var_os("FABRIC_ADMISSION_STATIC").map(PathBuf::from);
                let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
                let usual = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                    .join("target")
                    .join(target)
                    .join("dist/fabric-admission");
                let path = std::env::var_os("PATH").unwrap_or_default();
                let has = |tool: &&str| {
                    std::env::split_paths(&path).any(|directory| directory.join(tool).is_file())
                };
                let tools =
                    ["buildah", "skopeo", "umoci"].iter().all(has) && ["runc", "crun"].iter().any(has);
                given.or(Some(usual)).filter(|binary| tools && binary.is_file())
            }
        }
    }

    fn why_missing(self) -> &'static str {
        match self {
            Self::Shared => "no shared data; set FABRIC_ADMISSION_SHARED",
            Self::Faketime => "no libfaketime; set FABRIC_ADMISSION_FAKETIME",
            Self::Image => {
                "no static binary (just dist; FABRIC_ADMISSION_STATIC), buildah, skopeo, umoci and runc or crun"
            }
            Self::Prometheus => "no prometheus and promtool on the PATH",
            Self::Sarif => "no schema of SARIF; set FABRIC_ADMISSION_SARIF_SCHEMA",
            Self::Helm => "no helm; set FABRIC_ADMISSION_HELM",
            Self::E2e => "no kubectl, etcd and kube-apiserver; set KUBEBUILDER_ASSETS",
        }
    }
}

/// Every trial of the run.
#[derive(Default)]
pub(crate) struct Suite {
    trials: Vec<Trial>,
    skipped: BTreeMap<&'static str, usize>,
}

impl Suite {
    /// Adds a trial.
    pub(crate) fn add(&mut self, name: impl Into<String>, test: impl FnOnce() -> Outcome + Send + 'static) {
        self.trials.push(Trial::test(name.into(), test));
    }

    /// Where a need is met, or `None`; then `name` stands in the run as one ignored trial, or as a failing one
    /// where `FABRIC_ADMISSION_REQUIRE` asks for it.
    pub(crate) fn need(&mut self, need: Need, name: &str) -> Option<PathBuf> {
        let found = need.find();
        if found.is_none() {
            self.skip(need, need.why_missing(), name);
        }
        found
    }

    /// Tells of a part of the end-to-end tests that this machine cannot run.
    pub(crate) fn missing(&mut self, why: &'static str, name: &str) {
        self.skip(Need::E2e, why, name);
    }

    /// Tells of a trial that the binary under test cannot pass, whatever `FABRIC_ADMISSION_REQUIRE` asks for.
    pub(crate) fn cannot(&mut self, why: &'static str, name: &str) {
        *self.skipped.entry(why).or_default() += 1;
        self.trials.push(Trial::test(name, move || Err(why.into())).with_ignored_flag(true));
    }

    fn skip(&mut self, need: Need, why: &'static str, name: &str) {
        let required = std::env::var("FABRIC_ADMISSION_REQUIRE").unwrap_or_default();
        let required = required.split(',').any(|r| r.trim() == need.name());
        if !required {
            *self.skipped.entry(why).or_default() += 1;
        }
        let name = format!("{name}::needs_{}", need.name());
        self.trials.push(Trial::test(name, move || Err(why.into())).with_ignored_flag(!required));
    }

    /// Names of all trials so far.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.trials.iter().map(|trial| trial.name().to_owned()).collect()
    }

    /// Says what is skipped and runs the rest.
    pub(crate) fn run(self, arguments: &Arguments) -> ExitCode {
        if !arguments.list {
            for (why, count) in &self.skipped {
                eprintln!("skipped: {count} ({why})");
            }
        }
        libtest_mimic::run(arguments, self.trials).exit_code()
    }
}
