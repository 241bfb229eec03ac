//! A replica's own line to the API server, which can be cut or fall silent while everybody else's is well.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::Value;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// How a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Well,
    /// Connections end, and new ones are ended at once.
    Cut,
    /// Nothing comes through, and no error is reported.
    Silent,
}

pub struct Line {
    state: watch::Sender<State>,
    carrying: JoinHandle<()>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.carrying.abort();
    }
}

impl Line {
    /// Lays a line for the client of this kubeconfig.
    pub async fn lay(kubeconfig: &PathBuf) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut text: Value = serde_json::from_str(&std::fs::read_to_string(kubeconfig).unwrap()).unwrap();
        let server = &mut text["clusters"][0]["cluster"]["server"];
        let api_server: SocketAddr = server.as_str().unwrap().trim_start_matches("https://").parse().unwrap();
        *server = format!("https://{}", socket.local_addr().unwrap()).into();
        std::fs::write(kubeconfig, text.to_string()).unwrap();
        let state = watch::Sender::new(State::Well);
        let carrying = tokio::spawn(carry_all(socket, api_server, state.subscribe()));
        Self { state, carrying }
    }

    pub fn cut(&self) {
        self.state.send_replace(State::Cut);
    }

    pub fn falls_silent(&self) {
        self.state.send_replace(State::Silent);
    }

    /// New connections go through; those that fell silent never will.
    pub fn mend(&self) {
        self.state.send_replace(State::Well);
    }
}

async fn carry_all(socket: TcpListener, api_server: SocketAddr, state: watch::Receiver<State>) {
    let mut calls = JoinSet::new();
    loop {
        let (stream, _) = socket.accept().await.unwrap();
        if *state.borrow() != State::Cut {
            calls.spawn(carry(stream, api_server, state.clone()));
        }
    }
}

async fn carry(mut stream: TcpStream, api_server: SocketAddr, mut state: watch::Receiver<State>) {
    let was_well = state.wait_for(|state| *state != State::Silent).await.is_ok_and(|state| *state == State::Well);
    if !was_well {
        return;
    }
    let mut server = TcpStream::connect(api_server).await.unwrap();
    let fate = tokio::select! {
        _ = copy_bidirectional(&mut stream, &mut server) => return,
        state = state.wait_for(|state| *state != State::Well) => state.map(|state| *state),
    };
    if fate.is_ok_and(|fate| fate == State::Silent) {
        // The client still holds a connection, and hears nothing any more.
        drop(server);
        std::future::pending::<()>().await;
    }
}
