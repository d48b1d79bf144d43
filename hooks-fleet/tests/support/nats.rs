//! A real NATS server of a test, and a proxy in front of it that delays, cuts and freezes.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hooks_fleet::nats::NatsOptions;
use hooks_fleet::{Fleet, FleetOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A server with a store of its own, which it keeps when it is restarted.
pub struct Server {
    child: Option<Child>,
    config: PathBuf,
    variables: Vec<(String, String)>,
    pub port: u16,
    pub folder: tempfile::TempDir,
}

/// Where the server's program is, if anywhere.
fn program() -> Option<PathBuf> {
    let named = std::env::var_os("NATS_SERVER").map(PathBuf::from);
    let usual = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
    let usual = usual.into_iter().map(PathBuf::from);
    named.into_iter().chain(usual).find(|path| path.exists())
}

impl Server {
    /// Starts one without users; `None`, loudly, where there is no server.
    pub async fn start() -> Option<Self> {
        Self::with_config("", Vec::new()).await
    }

    /// Starts one that keeps nothing.
    pub async fn without_jetstream() -> Option<Self> {
        Self::with_text(|_| String::new(), Vec::new()).await
    }

    /// Starts one with that beside its port and its store.
    pub async fn with_config(config: &str, variables: Vec<(String, String)>) -> Option<Self> {
        let text = |store: &Path| {
            let store = store.display().to_string();
            format!("jetstream {{ store_dir: {store:?} }}\n{config}\n")
        };
        Self::with_text(text, variables).await
    }

    async fn with_text(
        text: impl FnOnce(&Path) -> String,
        variables: Vec<(String, String)>,
    ) -> Option<Self> {
        if program().is_none() {
            eprintln!(
                "LEFT OUT: there is no nats-server here (Debian: `apt-get install nats-server`, \
                 or set NATS_SERVER to its path)"
            );
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let path = folder.path().join("server.conf");
        let text = text(&folder.path().join("store"));
        std::fs::write(&path, format!("listen: 127.0.0.1:{port}\n{text}")).unwrap();
        let mut server = Self { child: None, config: path, variables, port, folder };
        server.run().await;
        Some(server)
    }

    /// Starts it, or starts it again.
    pub async fn run(&mut self) {
        assert!(self.child.is_none(), "it runs");
        let log = self.folder.path().join("server.log");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let child = Command::new(program().unwrap())
            .arg("--config")
            .arg(&self.config)
            .envs(self.variables.iter().cloned())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.child = Some(child.unwrap());
        for _ in 0..400 {
            if TcpStream::connect(("127.0.0.1", self.port)).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        let log = std::fs::read_to_string(self.folder.path().join("server.log"));
        panic!("the server does not listen: {}", log.unwrap_or_default());
    }

    /// Kills it, as a machine that loses its power does.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub fn options(&self) -> NatsOptions {
        at(self.port)
    }

    pub async fn fleet(&self, options: FleetOptions) -> Fleet {
        Fleet::connect(self.options(), options).await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How to get to a server or proxy at that port.
pub fn at(port: u16) -> NatsOptions {
    NatsOptions::new(format!("nats://127.0.0.1:{port}"))
}

/// A port below those that the system gives to clients: one of them could take the place of a
/// server that is restarted, and one that connects to itself would pass for it.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        // Tests run side by side, in threads and in processes.
        let next = std::process::id() * 61 + NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + (next % 20_000) as u16;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// What a proxy does with what comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mode {
    /// Nothing comes through.
    frozen: bool,
    /// New connections are refused.
    refusing: bool,
    /// Connections of an earlier number are cut.
    generation: u64,
    delay: Duration,
}

/// A TCP proxy in front of a server.
pub struct Proxy {
    mode: Arc<watch::Sender<Mode>>,
    pub port: u16,
    task: tokio::task::JoinHandle<()>,
}

impl Proxy {
    pub async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mode = Mode { frozen: false, refusing: false, generation: 0, delay: Duration::ZERO };
        let mode = Arc::new(watch::channel(mode).0);
        let modes = Arc::clone(&mode);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if modes.borrow().refusing {
                    continue;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { continue };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).unwrap();
                }
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::spawn(pump(from_client, to_server, modes.subscribe()));
                tokio::spawn(pump(from_server, to_client, modes.subscribe()));
            }
        });
        Self { mode, port, task }
    }

    pub fn freeze(&self, frozen: bool) {
        self.mode.send_modify(|mode| mode.frozen = frozen);
    }

    pub fn delay(&self, delay: Duration) {
        self.mode.send_modify(|mode| mode.delay = delay);
    }

    /// Cuts all connections; new ones are taken unless it refuses.
    pub fn cut(&self) {
        self.mode.send_modify(|mode| mode.generation += 1);
    }

    pub fn refuse(&self, refusing: bool) {
        self.mode.send_modify(|mode| mode.refusing = refusing);
    }

    pub async fn fleet(&self, options: FleetOptions) -> Fleet {
        Fleet::connect(at(self.port), options).await.unwrap()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
        self.cut();
    }
}

async fn pump(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut mode: watch::Receiver<Mode>,
) {
    let generation = mode.borrow().generation;
    let mut gone = mode.clone();
    let mut buffer = vec![0; 64 * 1024];
    let pumping = async {
        loop {
            let Ok(read @ 1..) = from.read(&mut buffer).await else { return };
            if mode.wait_for(|mode| !mode.frozen).await.is_err() {
                return;
            }
            let delay = mode.borrow().delay;
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            if to.write_all(&buffer[..read]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = pumping => {}
        _ = gone.wait_for(|mode| mode.generation != generation) => {}
    }
}

/// Whether a program is there.
pub fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// A file of this package.
pub fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
