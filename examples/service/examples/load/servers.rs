//! The three servers, in this process: without hooks, with hooks, and with metrics too.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use hooks_service::configuration::Configuration;
use hooks_service::recorder::recorder;
use hooks_service::service::{Service, ShutdownError};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::direct::Direct;

/// The addresses, and what it takes to stop.
pub(crate) struct Servers {
    pub(crate) direct: SocketAddr,
    pub(crate) hooked: SocketAddr,
    pub(crate) metered: SocketAddr,
    runtime: Runtime,
    stop: watch::Sender<()>,
    services: Vec<Running>,
    _folder: TempDir,
}

/// A service, and the task that serves.
type Running = (Arc<Service>, JoinHandle<Result<(), ShutdownError>>);

impl Servers {
    pub(crate) fn start() -> Result<Self, Box<dyn Error>> {
        recorder();
        let (folder, runtime) = (tempfile::tempdir()?, Runtime::new()?);
        let configuration = |name: &str, metrics: bool| {
            let journal = folder.path().join(name);
            let text = include_str!("../../service.toml")
                .replace("metrics = true", &format!("metrics = {metrics}"))
                .replace("orders = 1000", &format!("orders = {}", u32::MAX))
                .replace("target/orders.jsonl", &journal.display().to_string());
            Configuration::from_toml(&text)
        };
        let direct = Direct::new(&configuration("direct", false)?)?.router();
        let hooked = configuration("hooked", false)?;
        let metered = configuration("metered", true)?;
        let stop = watch::Sender::new(());
        let (addresses, services) = runtime.block_on(async {
            let mut services = Vec::new();
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let mut addresses = vec![listener.local_addr()?];
            tokio::spawn(async { axum::serve(listener, direct).await });
            for configuration in [hooked, metered] {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                addresses.push(listener.local_addr()?);
                let service = Service::launch(configuration).await?;
                let mut stopped = stop.subscribe();
                // It is ready when the sender is dropped.
                let stopped = async move { drop(stopped.changed().await) };
                let serving = tokio::spawn(Arc::clone(&service).serve(listener, stopped));
                services.push((service, serving));
            }
            Ok::<_, Box<dyn Error>>((addresses, services))
        })?;
        let (direct, hooked, metered) = (addresses[0], addresses[1], addresses[2]);
        Ok(Self { direct, hooked, metered, runtime, stop, services, _folder: folder })
    }

    /// Stops the services; an error says what was left.
    pub(crate) fn stop(self) -> Result<(), Box<dyn Error>> {
        drop(self.stop);
        for (service, serving) in self.services {
            self.runtime.block_on(serving)??;
            if let Some(plugin) = service.hooks().plugins().first() {
                return Err(format!("{} is left", plugin.id).into());
            }
        }
        Ok(())
    }
}
