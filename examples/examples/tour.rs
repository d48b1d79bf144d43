//! A tour of the five models: a small message gateway, three plugins, and what
//! the operator sees.
//!
//! `cargo run --example tour`

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hooks_runtime::{
    BeforeExecute, Claim, FlowContext, Gate, HookRegistry, Plugins, Verdict, handlers,
    hook_handler, hook_handlers, hook_points,
};

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Message {
    /// Where it came from.
    pub channel: String,
    /// What it says.
    pub text: String,
}

hook_points! {
    /// A message came in.
    pub void Received(Message);

    /// Before the greeting is put together.
    pub modifying Greeting {
        /// Who is greeted.
        name: String,
    } -> {
        /// What stands before the name.
        salutation: String,
        /// What stands at the end.
        closing: String,
    }

    /// Who answers this message?
    pub claiming Route(Message) -> &'static str;

    /// Before a message leaves: rewrite it or reject it.
    #[hook(timeout = "5s")]
    pub gating Sending(Message);

    /// One delivery, stage by stage.
    #[hook(name = "gateway:deliver")]
    pub flow Deliver(Message) -> String;
}

/// Counts, and answers pings itself: a plugin with state.
struct Meter {
    received: AtomicU32,
    pings: AtomicU32,
}

#[hook_handlers(plugin = "meter")]
impl Meter {
    #[hook_handler(Received)]
    fn count(&self, _: &Message) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    #[hook_handler(BeforeExecute<Deliver>)]
    fn answer_pings(&self, flow: &mut FlowContext<Deliver>) {
        if flow.input().is_some_and(|message| message.text == "ping") {
            self.pings.fetch_add(1, Ordering::Relaxed);
            flow.respond("pong, without a delivery".to_owned());
        }
    }
}

#[hook_handler(Received, plugin = "flaky")]
async fn stumble(_: &Message) {
    tokio::task::yield_now().await;
    panic!("the analytics server is down");
}

#[hook_handler(Greeting, plugin = "manners", priority = -10)]
fn politely(_: &GreetingPayload) -> GreetingResult {
    GreetingResult { salutation: Some("Dear".to_owned()), ..GreetingResult::default() }
}

#[hook_handler(Greeting)]
fn by_default(_: &GreetingPayload) -> GreetingResult {
    GreetingResult { salutation: Some("Hi".to_owned()), closing: Some("!".to_owned()) }
}

#[hook_handler(Route)]
fn telegram(message: &Message) -> Option<&'static str> {
    (message.channel == "telegram").then_some("the telegram adapter")
}

#[hook_handler(Sending)]
fn trim(message: &Message) -> Verdict<Message> {
    let text = message.text.trim().to_owned();
    Verdict::Replace(Message { text, ..message.clone() })
}

#[hook_handler(Sending, guard)]
fn no_secrets(message: &Message) -> Verdict {
    if message.text.contains("password") {
        Verdict::reject("it mentions a password")
    } else {
        Verdict::Pass
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // The panic below is part of the tour; its backtrace is not.
    std::panic::set_hook(Box::new(|_| {}));
    let hooks = HookRegistry::new();
    let annotated = handlers![stumble, politely, by_default, telegram, trim, no_secrets];
    hooks.register(annotated)?;
    let counted = Arc::new(Meter { received: AtomicU32::new(0), pings: AtomicU32::new(0) });
    let meter = hooks.install(Arc::clone(&counted))?;
    let message = Message { channel: "telegram".to_owned(), text: "  hello ".to_owned() };

    println!("void: every handler is called, whatever the others do");
    let (fired, report) = hooks.fire_void_reported::<Received>(&message).await;
    fired?;
    println!("{report}\n");

    println!("modifying: per field the first value wins");
    let name = GreetingPayload { name: "reader".to_owned() };
    let (greeting, report) = hooks.fire_modifying_reported::<Greeting>(&name).await;
    println!("{report}\n  so: {:?}", greeting?);
    let quiet = hooks.scope(Plugins::BuiltIn);
    println!("  built-in only: {:?}\n", quiet.fire_modifying::<Greeting>(&name).await?);

    println!("claiming: the first claim wins");
    match hooks.fire_claiming::<Route>(&message).await? {
        Claim::Claimed(adapter) => println!("  claimed by {adapter}\n"),
        Claim::Unclaimed => println!("  unclaimed\n"),
    }

    println!("gating: rewriters, then guards");
    let secret = Message { text: "the password is swordfish ".to_owned(), ..message.clone() };
    for outgoing in [message.clone(), secret] {
        let (gate, report) = hooks.fire_gating_reported::<Sending>(outgoing).await;
        println!("{report}");
        match gate? {
            Gate::Passed(passed) => println!("  so: sends {:?}", passed.text),
            Gate::Rejected(rejection) => println!("  so: {rejection}"),
        }
    }

    println!("\nflow: stages around an operation");
    for text in ["ping", "news"] {
        let request = Message { text: text.to_owned(), ..message.clone() };
        let delivered = hooks
            .flow::<Deliver>()
            .run(request, async |message| {
                Ok::<_, std::io::Error>(format!("delivered {:?}", message.text))
            })
            .await?;
        println!("  {text}: {delivered}");
    }

    println!("\nunloading: gone at one instant, and waited for");
    let Meter { received, pings } = &*counted;
    let (received, pings) = (received.load(Ordering::Relaxed), pings.load(Ordering::Relaxed));
    println!("  meter counted {received} message and {pings} ping");
    meter.uninstall().await;
    println!("  handlers left: {}", hooks.handlers().len());
    println!("\naudit\n  {}", hooks.audit().to_string().replace('\n', "\n  "));
    Ok(())
}
