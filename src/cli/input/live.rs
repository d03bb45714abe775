//! `--live`: facts from a cluster, read once.

use crate::cli::Exit;
use crate::cluster::client;
use crate::cluster::{once, pod};
use crate::snapshot::Builder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The kubeconfig that kubectl would use: the flag, the first file of `KUBECONFIG`, the one at home.
pub(in crate::cli) fn kubeconfig(given: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = given {
        return Some(path.to_path_buf());
    }
    let listed = std::env::var_os("KUBECONFIG").filter(|v| !v.is_empty());
    if let Some(first) = listed.as_deref().and_then(|list| std::env::split_paths(list).next()) {
        return Some(first);
    }
    let home = Path::new(&std::env::var_os("HOME")?).join(".kube/config");
    home.exists().then_some(home)
}

/// Adds the facts of the cluster, and reads the pods named as `pod/NAME`. `Err` with the exit code, and the reason on
/// `err`, where no cluster is named or the cluster cannot be reached.
pub(super) fn look(
    given: Option<&Path>,
    context: Option<&str>,
    builder: Builder,
    pods: (&str, &[String]),
    err: &mut dyn Write,
) -> io::Result<Result<(Builder, Vec<String>), Exit>> {
    let path = kubeconfig(given);
    if path.is_none() && !client::in_cluster() {
        writeln!(err, "error: --live needs a kubeconfig file: set --kubeconfig FILE or variable KUBECONFIG")?;
        return Ok(Err(Exit::Usage));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = runtime.block_on(async {
        let client = client::connect(path.as_deref(), context)
            .await
            .map_err(|error| (Exit::of_client(&error), error.to_string()))?;
        let failed = |message: String| (Exit::Internal, message);
        let mut running = Vec::new();
        for name in pods.1 {
            running.push(pod(&client, pods.0, name).await.map_err(|e| failed(e.to_string()))?);
        }
        let seen = once(&client, builder).await.map_err(|e| failed(e.to_string()))?;
        Ok::<_, (Exit, String)>((seen, running))
    });
    match seen {
        Err((exit, message)) => {
            writeln!(err, "error: --live: {message}")?;
            Ok(Err(exit))
        }
        Ok((seen, running)) => {
            for (kind, why) in &seen.forbidden {
                writeln!(
                    err,
                    "warning: --live: no permission to read {kind}, so objects of this kind are unknown ({why})"
                )?;
            }
            Ok(Ok((seen.builder, running)))
        }
    }
}
