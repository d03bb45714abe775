//! The client of the API server.

use crate::tls::crypto_provider;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rustls::crypto::CryptoProvider;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

/// Why a client cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A kubeconfig file that cannot be used.
    #[error("{path}: {source}")]
    Kubeconfig {
        /// File.
        path: String,
        /// What is wrong.
        source: kube::config::KubeconfigError,
    },
    /// A path to a directory or a device, or to a file that is too long.
    #[error(
        "{path}: expected a kubeconfig file of at most {MAX_KUBECONFIG_MIB} MiB, found {found}; name another file"
    )]
    NoKubeconfig {
        /// File.
        path: String,
        /// What is there.
        found: String,
    },
    /// A context that the kubeconfig file does not have.
    #[error("{path}: context {name:?} does not exist{hint}")]
    Context {
        /// File.
        path: String,
        /// Context.
        name: String,
        /// The nearest name.
        hint: String,
    },
    /// The service account of the pod cannot be used.
    #[error("the pod's service account cannot be used: {0}")]
    InCluster(#[from] kube::config::InClusterError),
    /// A client cannot be made of the configuration.
    #[error("cannot create a client for the API server: {0}")]
    Client(#[from] kube::Error),
}

impl ClientError {
    /// Whether the caller named no cluster, or a wrong one. Nobody has tried to reach a cluster yet.
    #[must_use]
    pub fn is_wrong_usage(&self) -> bool {
        !matches!(self, Self::Client(_))
    }
}

/// Largest kubeconfig file that is read (MiB). Those of people with hundreds of clusters have 1 to 2.
const MAX_KUBECONFIG_MIB: u64 = 16;

/// Where the kubelet mounts a service account's token.
const TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// Whether this process runs in a pod with a service account.
#[must_use]
pub fn is_in_pod_with_service_account() -> bool {
    std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() && Path::new(TOKEN).exists()
}

/// A client, and the server that it asks.
pub struct ClientAndAddress {
    /// The client.
    pub client: kube::Client,
    /// URL of the API server, as error messages show it.
    pub address: String,
}

/// The reader of kube has no limit, and a device such as /dev/zero has no end. A pipe is what a shell makes of `<(command)`.
fn check_kind_and_size_of_kubeconfig(path: &Path) -> Result<(), ClientError> {
    // The reader says why a file cannot be opened.
    let Ok(file) = std::fs::metadata(path) else { return Ok(()) };
    let found = match file.len() {
        _ if !file.is_file() && !file.file_type().is_fifo() => "a directory or a device".to_owned(),
        length if length > MAX_KUBECONFIG_MIB << 20 => format!("{length} bytes"),
        _ => return Ok(()),
    };
    Err(ClientError::NoKubeconfig { path: path.display().to_string(), found })
}

/// A client by a kubeconfig file, or by the pod's service account where there is none.
///
/// # Errors
/// [`ClientError`] names the file and what is wrong with it.
pub async fn create_client(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> Result<kube::Client, ClientError> {
    Ok(create_client_and_address(kubeconfig, context).await?.client)
}

/// The URL without credentials and without a slash at its end.
fn address(url: &http::Uri) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let (scheme, host) = (url.scheme_str().unwrap_or("https"), url.host().unwrap_or_default());
    format!("{scheme}://{host}{port}{}", url.path().trim_end_matches('/'))
}

/// As [`create_client`], with the server's address.
///
/// # Errors
/// [`ClientError`] names the file and what is wrong with it.
pub async fn create_client_and_address(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> Result<ClientAndAddress, ClientError> {
    // kube's connector takes the default provider of the process. An error says that it is set already.
    let _ = CryptoProvider::clone(&crypto_provider()).install_default();
    let mut config = match kubeconfig {
        None => kube::Config::incluster()?,
        Some(path) => {
            let wrong = |source| ClientError::Kubeconfig { path: path.display().to_string(), source };
            check_kind_and_size_of_kubeconfig(path)?;
            let file = Kubeconfig::read_from(path).map_err(wrong)?;
            if let Some(name) = context.filter(|name| file.contexts.iter().all(|c| c.name != **name)) {
                let names = file.contexts.iter().map(|c| c.name.as_str());
                let near = crate::text::nearest_if_probably_meant(name, names);
                let hint = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
                let path = path.display().to_string();
                return Err(ClientError::Context { path, name: name.to_owned(), hint });
            }
            let options = KubeConfigOptions { context: context.map(str::to_owned), ..Default::default() };
            kube::Config::from_custom_kubeconfig(file, &options).await.map_err(wrong)?
        }
    };
    config.connect_timeout = Some(Duration::from_secs(10));
    config.write_timeout = Some(Duration::from_secs(10));
    // Reads have deadlines of their own: a watch may be silent for minutes.
    config.read_timeout = None;
    let address = address(&config.cluster_url);
    Ok(ClientAndAddress { client: kube::Client::try_from(config)?, address })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_or_a_pipe_of_a_normal_size_is_read() {
        let folder = std::env::temp_dir().join(format!("kubeconfig-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let large = folder.join("large");
        std::fs::File::create(&large).unwrap().set_len((MAX_KUBECONFIG_MIB << 20) + 1).unwrap();
        for (path, found) in [
            (folder.as_path(), Some("a directory or a device")),
            (Path::new("/dev/zero"), Some("a directory or a device")),
            (&large, Some("16777217 bytes")),
            (&folder.join("gone"), None),
        ] {
            let message = check_kind_and_size_of_kubeconfig(path).err().map(|error| error.to_string());
            assert_eq!(message.is_some(), found.is_some(), "{message:?}");
            assert!(message.unwrap_or_default().contains(found.unwrap_or_default()));
        }
        std::fs::File::options().write(true).open(&large).unwrap().set_len(16 << 20).unwrap();
        assert!(check_kind_and_size_of_kubeconfig(&large).is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn an_address_has_no_credentials() {
        for (url, shown) in [
            ("https://127.0.0.1:6443/", "https://127.0.0.1:6443"),
            ("https://[::1]:6443", "https://[::1]:6443"),
            ("https://user:secret@example.com/k8s/clusters/c-1/", "https://example.com/k8s/clusters/c-1"),
        ] {
            assert_eq!(url.parse().map(|url| address(&url)).ok().as_deref(), Some(shown));
        }
    }
}
