//! Starts the service: `cargo run -p hooks-service [CONFIGURATION]`.

#![forbid(unsafe_code)]

use std::error::Error;

use hooks_service::configuration::Configuration;
use hooks_service::recorder::recorder;
use hooks_service::service::Service;
use tokio::net::TcpListener;

const DEFAULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/service.toml");

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| DEFAULT.to_owned());
    let configuration = Configuration::from_toml(&std::fs::read_to_string(path)?)?;
    recorder();
    let listener = TcpListener::bind(configuration.listen).await?;
    let service = Service::launch(configuration).await?;
    println!("listening on http://{}", listener.local_addr()?);
    service.serve(listener, interrupted()).await?;
    println!("all orders are written, all plugins have stopped");
    Ok(())
}

/// Ready at the first Ctrl-C.
async fn interrupted() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        eprintln!("no signal will end this: {error}");
        std::future::pending::<()>().await;
    }
}
