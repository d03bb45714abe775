//! Servers that do less than `serve`, as its baselines: the same libraries for TLS and HTTP, and an answer that is always
//! the same. One of them reads the fields of the pod first.

use fabric_admission::json::decode_with_place;
use fabric_admission::pod::PodView;
use fabric_admission::review::admission_review;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::convert::Infallible;
use std::hint::black_box;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio_rustls::TlsAcceptor;

/// What a layer does with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// It reads the bytes.
    Nothing,
    /// It decodes the envelope and the fields of the pod that a decision reads.
    Parse,
}

/// Where connections run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// Threads that share all tasks, as in `serve`.
    Shared,
    /// Threads with tasks of their own.
    Cores,
}

/// An answer of so many bytes that allows everything, as far as the least answer is not longer.
pub(crate) fn constant_answer(bytes: usize) -> String {
    let (head, end) = (
        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":{\"uid\":\
         \"f8e5b4f7-2e3c-4213-a539-c9beb247b22a\",\"allowed\":true,\"auditAnnotations\":{\"filler\":\"",
        "\"}}}",
    );
    format!("{head}{}{end}", "x".repeat(bytes.saturating_sub(head.len() + end.len())))
}

/// Serves as long as the process lives. The directory has `tls.crt` and `tls.key`.
pub(crate) fn serve(
    work: Work,
    runtime: Runtime,
    threads: usize,
    answer: String,
    directory: &Path,
    listening: impl FnOnce(SocketAddr),
) {
    let certificates = CertificateDer::pem_file_iter(directory.join("tls.crt")).unwrap();
    let certificates = certificates.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(directory.join("tls.key")).unwrap();
    let mut config = ServerConfig::builder_with_provider(fabric_admission::tls::crypto_provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap();
    config.send_tls13_tickets = 0;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let answer = Bytes::from(answer);
    let accept = async |handles: &[Handle]| {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listening(listener.local_addr().unwrap());
        for handle in handles.iter().cycle() {
            let Ok((stream, _)) = listener.accept().await else { continue };
            // The thread that reads it watches it, too.
            let Ok(stream) = stream.into_std() else { continue };
            handle.spawn(connection(stream, acceptor.clone(), work, answer.clone()));
        }
    };
    match runtime {
        Runtime::Shared => {
            let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap();
            runtime.block_on(accept(&[runtime.handle().clone()]));
        }
        Runtime::Cores => {
            let others: Vec<Handle> = (0..threads).map(|_| core()).collect();
            Builder::new_current_thread().enable_all().build().unwrap().block_on(accept(&others));
        }
    }
}

/// A thread with a runtime of its own.
fn core() -> Handle {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    handle
}

async fn connection(stream: std::net::TcpStream, acceptor: TlsAcceptor, work: Work, answer: Bytes) {
    let Ok(stream) = tokio::net::TcpStream::from_std(stream) else { return };
    let _ = stream.set_nodelay(true);
    let Ok(tls) = acceptor.accept(stream).await else { return };
    let service = hyper::service::service_fn(|request: Request<Incoming>| {
        let answer = answer.clone();
        async move {
            let body = request.into_body().collect().await.map(|body| body.to_bytes());
            if let (Work::Parse, Ok(body)) = (work, body) {
                let request = admission_review::parse(&body).unwrap();
                let pod: PodView<'_> =
                    decode_with_place::decode_object(request.object.unwrap().get()).unwrap();
                black_box(pod);
            }
            let response = Response::builder().header("content-type", "application/json");
            Ok::<_, Infallible>(response.body(Full::new(answer)).unwrap())
        }
    });
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(120))
        .serve_connection(TokioIo::new(tls), service)
        .await;
}
