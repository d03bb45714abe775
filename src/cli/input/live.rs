//! `--live`: facts from a cluster, read once.

use crate::cluster::{client, once, pod};
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

/// Adds the facts of the cluster, and reads the pods named as `pod/NAME`. `None`, with the reason on `err`, if the cluster
/// cannot be reached.
pub(super) fn look(
    given: Option<&Path>,
    context: Option<&str>,
    builder: Builder,
    pods: (&str, &[String]),
    err: &mut dyn Write,
) -> io::Result<Option<(Builder, Vec<String>)>> {
    let path = kubeconfig(given);
    if path.is_none() && !client::in_cluster() {
        writeln!(err, "error: --live needs a kubeconfig file: set --kubeconfig FILE or variable KUBECONFIG")?;
        return Ok(None);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = runtime.block_on(async {
        let client = client::connect(path.as_deref(), context).await.map_err(|e| e.to_string())?;
        let mut running = Vec::new();
        for name in pods.1 {
            running.push(pod(&client, pods.0, name).await.map_err(|e| e.to_string())?);
        }
        Ok::<_, String>((once(&client, builder).await.map_err(|e| e.to_string())?, running))
    });
    match seen {
        Err(message) => {
            writeln!(err, "error: --live: {message}")?;
            Ok(None)
        }
        Ok((seen, running)) => {
            for (kind, why) in &seen.forbidden {
                writeln!(
                    err,
                    "warning: --live: no permission to read {kind}, so objects of this kind are unknown ({why})"
                )?;
            }
            Ok(Some((seen.builder, running)))
        }
    }
}
