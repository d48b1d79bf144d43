//! A carrier in memory: for the tests of hosts, and where there is one process.

mod durable;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

use self::durable::{LocalDeliveries, Queue};
use super::{
    Cancellations, Carrier, CarrierError, DeadLetter, Deliveries, Inbound, Message, Presence,
    Requests, Watch,
};
use crate::wire::Announcement;
use crate::wire::subject::Route;

/// A network in memory. Clones are the same network; each process of a test has a fleet on it.
///
/// ```
/// use hooks_fleet::LocalNetwork;
///
/// let network = LocalNetwork::new();
/// assert!(network.dead_letters().is_empty());
/// ```
#[derive(Clone, Default)]
pub struct LocalNetwork(Arc<Network>);

#[derive(Default)]
struct Network {
    state: Mutex<State>,
    /// Something was stored, or may be delivered again.
    stored: Notify,
    /// The connections were cut.
    lost: Notify,
}

#[derive(Default)]
struct State {
    servers: HashMap<Route, VecDeque<mpsc::UnboundedSender<Inbound>>>,
    cancelled: HashMap<String, Vec<mpsc::UnboundedSender<String>>>,
    present: HashMap<(String, String), Announcement>,
    watchers: Vec<mpsc::UnboundedSender<Presence>>,
    pings: HashMap<(String, String), Weak<()>>,
    killed: HashSet<(String, String)>,
    queues: HashMap<String, Queue>,
    dead: Vec<DeadLetter>,
    max_bytes: Option<usize>,
    is_cut: bool,
}

impl LocalNetwork {
    /// A network without processes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The largest message that it takes: 1 MiB unless it is set.
    #[must_use]
    pub fn with_max_bytes(self, limit: usize) -> Self {
        self.state().max_bytes = Some(limit);
        self
    }

    /// Cuts the connections of everybody, or restores them: calls under way are lost, what is
    /// sent meanwhile is unreachable, and announcements are not heard.
    pub fn cut(&self, is_cut: bool) {
        self.state().is_cut = is_cut;
        if is_cut {
            self.0.lost.notify_waiters();
        }
    }

    /// The durable messages that were given up.
    pub fn dead_letters(&self) -> Vec<DeadLetter> {
        self.state().dead.clone()
    }

    /// Has all others know a process as gone, without its knowledge, as one that was killed is:
    /// it is not heard any more, and answers no ping. Calls that were sent to it end as they
    /// would; where another process serves the same, a request may still reach it until its
    /// [`Serving`](crate::Serving) is dropped, and its answer is refused.
    pub fn kill(&self, service: &str, instance: &str) {
        let mut state = self.state();
        let process = (service.to_owned(), instance.to_owned());
        state.pings.remove(&process);
        state.killed.insert(process);
        state.gone(service, instance);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tell(&mut self, presence: &Presence) {
        if !self.is_cut {
            self.watchers.retain(|watcher| watcher.send(presence.clone()).is_ok());
        }
    }

    fn gone(&mut self, service: &str, instance: &str) {
        self.present.remove(&(service.to_owned(), instance.to_owned()));
        self.tell(&Presence::Gone(service.to_owned(), instance.to_owned()));
    }

    fn limit(&self) -> usize {
        self.max_bytes.unwrap_or(1 << 20)
    }

    fn check(&self, message: &Message) -> Result<(), CarrierError> {
        let (size, limit) = (message.size(), self.limit());
        if self.is_cut {
            Err(CarrierError::Unreachable)
        } else if size > limit {
            Err(CarrierError::TooLarge { size, limit })
        } else {
            Ok(())
        }
    }

    /// One of those that serve a route, each in turn.
    fn server(&mut self, route: &Route) -> Option<mpsc::UnboundedSender<Inbound>> {
        let servers = self.servers.get_mut(route)?;
        servers.retain(|server| !server.is_closed());
        let server = servers.pop_front()?;
        servers.push_back(server.clone());
        Some(server)
    }
}

impl Carrier for LocalNetwork {
    fn max_bytes(&self) -> usize {
        self.state().limit()
    }

    fn request<'a>(
        &'a self,
        route: &'a Route,
        message: Message,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Message, CarrierError>> {
        let (sender, answer) = oneshot::channel();
        let network = self.clone();
        let reply = move |reply: Message| {
            let checked = network.state().check(&reply);
            async move {
                checked?;
                // The caller may have given up, and dropped the receiver.
                let _ = sender.send(reply);
                Ok(())
            }
            .boxed()
        };
        // From here on, also where that is before the future is polled.
        let lost = self.0.lost.notified();
        let sent = {
            let mut state = self.state();
            state.check(&message).and_then(|()| {
                let server = state.server(route).ok_or(CarrierError::Absent)?;
                let inbound = Inbound { message, reply: Box::new(reply) };
                server.send(inbound).map_err(|_| CarrierError::Absent)
            })
        };
        async move {
            sent?;
            let answered = tokio::select! {
                biased;
                answered = timeout(limit, answer) => answered,
                () = lost => return Err(CarrierError::Lost),
            };
            match answered {
                Err(_) => Err(CarrierError::TimedOut),
                Ok(Err(_)) => Err(CarrierError::Lost),
                Ok(Ok(reply)) => Ok(reply),
            }
        }
        .boxed()
    }

    fn serve<'a>(
        &'a self,
        route: &'a Route,
    ) -> BoxFuture<'a, Result<Box<dyn Requests>, CarrierError>> {
        let (sender, requests) = mpsc::unbounded_channel();
        let servers = &mut self.state().servers;
        servers.retain(|_, servers| servers.iter().any(|server| !server.is_closed()));
        servers.entry(route.clone()).or_default().push_back(sender);
        async move { Ok(Box::new(LocalRequests(requests)) as Box<dyn Requests>) }.boxed()
    }

    fn cancel(&self, service: &str, call: &str) {
        let mut state = self.state();
        if state.is_cut {
            return;
        }
        if let Some(heard) = state.cancelled.get_mut(service) {
            heard.retain(|one| one.send(call.to_owned()).is_ok());
        }
    }

    fn cancellations<'a>(
        &'a self,
        service: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Cancellations>, CarrierError>> {
        let (sender, calls) = mpsc::unbounded_channel();
        let cancelled = &mut self.state().cancelled;
        for heard in cancelled.values_mut() {
            heard.retain(|one| !one.is_closed());
        }
        cancelled.entry(service.to_owned()).or_default().push(sender);
        async move { Ok(Box::new(LocalCancellations(calls)) as Box<dyn Cancellations>) }.boxed()
    }

    fn announce<'a>(
        &'a self,
        announcement: &'a Announcement,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        let mut state = self.state();
        let key = (announcement.service.clone(), announcement.instance.clone());
        if !state.killed.contains(&key) {
            state.present.insert(key, announcement.clone());
            state.tell(&Presence::Here(announcement.clone()));
        }
        async { Ok(()) }.boxed()
    }

    fn withdraw<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        self.state().gone(service, instance);
        async { Ok(()) }.boxed()
    }

    fn watch(&self) -> BoxFuture<'_, Result<Box<dyn Watch>, CarrierError>> {
        let (sender, heard) = mpsc::unbounded_channel();
        let mut state = self.state();
        for announcement in state.present.values() {
            let _ = sender.send(Presence::Here(announcement.clone()));
        }
        let _ = sender.send(Presence::Current);
        state.watchers.push(sender);
        async move { Ok(Box::new(LocalWatch(heard)) as Box<dyn Watch>) }.boxed()
    }

    fn answer_pings<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Send + Sync>, CarrierError>> {
        let alive = Arc::new(());
        let key = (service.to_owned(), instance.to_owned());
        let pings = &mut self.state().pings;
        pings.retain(|_, alive| alive.strong_count() > 0);
        pings.insert(key, Arc::downgrade(&alive));
        async move { Ok(Box::new(alive) as Box<dyn Send + Sync>) }.boxed()
    }

    fn ping<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        let state = self.state();
        let alive = state.pings.get(&(service.to_owned(), instance.to_owned()));
        let answer = if state.is_cut {
            Err(CarrierError::Unreachable)
        } else if alive.is_some_and(|alive| alive.strong_count() > 0) {
            Ok(())
        } else {
            Err(CarrierError::Absent)
        };
        async move { answer }.boxed()
    }

    fn store<'a>(
        &'a self,
        route: &'a Route,
        id: &'a str,
        message: Message,
        _: Duration,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        let stored = {
            let mut state = self.state();
            state.check(&message).map(|()| {
                state.queues.entry(route.durable()).or_default().store(id, message);
            })
        };
        self.0.stored.notify_waiters();
        async move { stored }.boxed()
    }

    fn consume<'a>(
        &'a self,
        route: &'a Route,
        attempts: u32,
    ) -> BoxFuture<'a, Result<Box<dyn Deliveries>, CarrierError>> {
        let deliveries = LocalDeliveries::new(self, route, attempts);
        async move { Ok(Box::new(deliveries) as Box<dyn Deliveries>) }.boxed()
    }
}

struct LocalRequests(mpsc::UnboundedReceiver<Inbound>);

impl Requests for LocalRequests {
    fn next(&mut self) -> BoxFuture<'_, Option<Inbound>> {
        self.0.recv().boxed()
    }

    fn drain(&mut self) -> BoxFuture<'_, ()> {
        self.0.close();
        async {}.boxed()
    }
}

struct LocalCancellations(mpsc::UnboundedReceiver<String>);

impl Cancellations for LocalCancellations {
    fn next(&mut self) -> BoxFuture<'_, Option<String>> {
        self.0.recv().boxed()
    }
}

struct LocalWatch(mpsc::UnboundedReceiver<Presence>);

impl Watch for LocalWatch {
    fn next(&mut self) -> BoxFuture<'_, Option<Presence>> {
        self.0.recv().boxed()
    }
}

impl fmt::Debug for LocalNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalNetwork")
    }
}
