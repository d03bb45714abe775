//! Helm as a child process, in every version that the machine has.

use super::{Ran, Scratch, root};
use crate::support::round_trip::documents;
use crate::support::suite::Need;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The chart.
pub(crate) fn chart() -> PathBuf {
    root().join("deploy/helm/fabric-admission")
}

/// One helm binary, with a home of its own: it reads and writes no settings of the user.
pub(crate) struct Helm {
    program: PathBuf,
    /// `3` or `4`.
    pub(crate) major: String,
    home: Scratch,
    kubeconfig: Option<PathBuf>,
}

/// The helm binaries that `FABRIC_ADMISSION_HELM` names (a list as PATH is one), or the one on the PATH.
pub(crate) fn found() -> Vec<PathBuf> {
    let given = std::env::var_os("FABRIC_ADMISSION_HELM");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates: Vec<PathBuf> = match &given {
        Some(list) => std::env::split_paths(list).collect(),
        None => std::env::split_paths(&path).map(|directory| directory.join("helm")).take(64).collect(),
    };
    let mut all: Vec<PathBuf> = candidates.into_iter().filter(|file| file.is_file()).collect();
    if given.is_none() {
        all.truncate(1);
    }
    all
}

/// Where helm is: the first of them.
pub(crate) fn find() -> Option<PathBuf> {
    found().into_iter().next()
}

impl Helm {
    /// Every helm of this machine.
    pub(crate) fn all() -> Result<Vec<Self>, String> {
        let all: Vec<Self> =
            found().iter().map(|program| Self::new(program, None)).collect::<Result<_, _>>()?;
        if all.is_empty() { Err(format!("no helm: {:?}", Need::Helm)) } else { Ok(all) }
    }

    pub(crate) fn new(program: &Path, kubeconfig: Option<PathBuf>) -> Result<Self, String> {
        let mut helm =
            Self { program: program.to_owned(), major: String::new(), home: Scratch::new()?, kubeconfig };
        let version = helm.run(&["version", "--short"])?.stdout;
        helm.major = version.trim_start_matches('v').chars().take_while(char::is_ascii_digit).collect();
        Ok(helm)
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// The command, to be started by the caller.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env("HOME", self.home.path()).env_remove("HELM_NAMESPACE");
        for (variable, directory) in
            [("HELM_CACHE_HOME", "cache"), ("HELM_CONFIG_HOME", "config"), ("HELM_DATA_HOME", "data")]
        {
            command.env(variable, self.home.path().join(directory));
        }
        match &self.kubeconfig {
            Some(file) => command.env("KUBECONFIG", file),
            // Nothing listens there: an offline command that asks a cluster fails.
            None => command.env("KUBECONFIG", self.home.path().join("none")),
        };
        command
    }

    /// Runs helm to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Result<Ran, String> {
        let output = self.command(args).output().map_err(|e| format!("{}: {e}", self.program.display()))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        })
    }

    /// Renders the chart into a namespace with values, or why helm refuses that.
    pub(crate) fn render(
        &self,
        namespace: &str,
        values: &Value,
        more: &[&str],
    ) -> Result<Vec<Value>, String> {
        self.home.write("values.json", values.to_string())?;
        let file = self.home.path().join("values.json").to_string_lossy().into_owned();
        let chart = chart().to_string_lossy().into_owned();
        // Helm 3 assumes the Kubernetes of its own age.
        let args = ["template", "site", &chart, "-n", namespace, "-f", &file, "--kube-version", "1.33"];
        let done = self.run(&[&args[..], more].concat())?;
        if done.code != 0 {
            return Err(done.stderr);
        }
        Ok(documents(done.stdout.as_bytes()).into_iter().map(|(_, object)| object).collect())
    }
}
