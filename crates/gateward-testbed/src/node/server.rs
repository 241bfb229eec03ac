//! What the API server asks a kubelet: logs, and ports of Pods.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

use super::answer::{Answer, error};
use super::entry::Entry;
use super::kubelet::Kubelet;
use super::listen::listen;
use super::network::MACHINE;
use super::{logs, port_forward};

/// Where the API server asks a kubelet.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(MACHINE), 10250);

/// Answers the API server, for ever.
pub(crate) async fn open(kubelet: Arc<Kubelet>, folder: &Path) -> anyhow::Result<()> {
    listen(ADDRESS, folder, move |stream, _| {
        let kubelet = Arc::clone(&kubelet);
        async move {
            let service = service_fn(async |request| Ok::<_, Infallible>(answer(&kubelet, request).await));
            // Who hangs up has read enough.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await;
        }
    })
    .await
}

async fn answer(kubelet: &Kubelet, request: Request<Incoming>) -> Answer {
    let path = request.uri().path().to_owned();
    let words: Vec<&str> = path.trim_matches('/').split('/').collect();
    let answer = match words[..] {
        ["containerLogs", namespace, pod, container] => {
            find(kubelet, namespace, pod).and_then(|pod| logs::answer(&pod, container, request.uri()))
        }
        ["portForward", namespace, pod] => match find(kubelet, namespace, pod) {
            Some(pod) => Some(port_forward::answer(&pod, request).await),
            None => None,
        },
        _ => None,
    };
    answer.unwrap_or_else(|| error(StatusCode::NOT_FOUND, "the test bed knows no such log or Pod\n".into()))
}

fn find(kubelet: &Kubelet, namespace: &str, name: &str) -> Option<Arc<Entry>> {
    let pods = kubelet.pods.lock().unwrap();
    pods.values().find(|pod| pod.namespace == namespace && pod.name == name).cloned()
}
