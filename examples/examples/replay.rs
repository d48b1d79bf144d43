//! What the agent's handlers would have done with a recorded day.
//!
//! `cargo run --example agent -- --record day.jsonl`, then
//! `cargo run --example replay -- day.jsonl --without allowlist`

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use hooks_examples::files::is_one_file;
use hooks_examples::replayed::{replay_of, take_over_modes};
use hooks_examples::view::Output;
use hooks_examples::{day, view};
use hooks_runtime::replay::ReplayError;
use hooks_runtime::{HookRegistry, PluginId};

type Failure = Box<dyn Error + Send + Sync>;

const HELP: &str = "\
What the agent's handlers would have done with a recording of it.

  cargo run --example agent -- --record FILE    record a day
  cargo run --example replay -- FILE            replay it: what would differ

Handlers that are declared pure are called. Others answer with what was recorded of them.
What an operator had disabled or in shadow when the recording began is so again.

options, each as often as wanted
  --without PLUGIN         as if the plugin were not installed
  --tighten HANDLER        as if the handler failed closed
  --shadow-lifted HANDLER  as if the handler were not in shadow
  --call HANDLER           call the handler, whatever it does besides answering
  HANDLER is plugin/handler, or a target as an operator writes it: point:plugin/handler

and
  --recompose              call none: recorded answers, today's order, scopes and settings
  --html FILE              write a page with both timelines of each fire that differs
  --help                   this

It ends with 0 where nothing would differ, 1 where something would, and 2 where nothing was
replayed, with the reason.";

#[derive(Default)]
struct Options {
    file: Option<PathBuf>,
    without: Vec<String>,
    tighten: Vec<String>,
    lift: Vec<String>,
    call: Vec<String>,
    recompose: bool,
    html: Option<PathBuf>,
    help: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let Some(file) = options.file.clone().filter(|_| !options.help) else {
        if options.help {
            return show(&format!("{HELP}\n")).map_or(ExitCode::from(2), |()| ExitCode::SUCCESS);
        }
        eprintln!("a recording is missing: record one with `agent --record FILE`\n\n{HELP}");
        return ExitCode::from(2);
    };
    match run(file, options).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Replays, and says what would differ. Whether nothing does.
async fn run(file: PathBuf, options: Options) -> Result<bool, Failure> {
    // The page would be the end of the recording.
    if let Some(html) = options.html.as_ref().filter(|html| is_one_file(&file, html)) {
        let html = html.display();
        return Err(format!("the page cannot be written to the recording, `{html}`").into());
    }
    // The same handlers as those of the agent, in a house of their own.
    let house = day::house()?;
    let hooks = house.agent.hooks();
    take_over_modes(hooks, &file)?;
    let mut about = vec![format!("{} against today's handlers", file.display())];
    let mut replay = replay_of(&file, hooks);
    for plugin in &options.without {
        about.push(format!("without {plugin}"));
        replay = replay.without(plugin);
    }
    for handler in &options.tighten {
        about.push(format!("{handler} fails closed"));
        replay = replay.tighten(handler);
    }
    for handler in &options.lift {
        about.push(format!("{handler} out of shadow"));
        replay = replay.shadow_lifted(handler);
    }
    for handler in &options.call {
        about.push(format!("{handler} is called"));
        replay = replay.call(handler);
    }
    if options.recompose {
        about.push("no handler is called".to_owned());
        replay = replay.recompose();
    }
    let report = replay.run().await.map_err(|error| match error {
        ReplayError::Change(error) => format!("{error}\nplugins: {}", plugins(hooks)).into(),
        error => Failure::from(error),
    })?;
    if report.fires.is_empty() && report.unread.is_empty() {
        return Err(format!("nothing was fired in the recording `{}`", file.display()).into());
    }
    show(&view::replay_table(&report))?;
    if let Some(html) = options.html {
        std::fs::write(&html, view::replay_page(&report, &about.join(", ")))
            .map_err(|error| format!("cannot write the page to `{}`: {error}", html.display()))?;
        eprintln!("the page is in `{}`", html.display());
    }
    Ok(report.changed().next().is_none())
}

/// Writes to the standard output. A reader that leaves, such as `head`, is no error.
fn show(text: &str) -> std::io::Result<()> {
    let mut output = Output::plain();
    output.write(text);
    output.finish()
}

/// The plugins that have handlers.
fn plugins(hooks: &HookRegistry) -> String {
    let handlers = hooks.handlers();
    let plugins: BTreeSet<_> = handlers.iter().filter_map(|it| it.owner.plugin()).collect();
    plugins.into_iter().map(PluginId::as_str).collect::<Vec<_>>().join(", ")
}

fn options() -> Result<Options, lexopt::Error> {
    use lexopt::prelude::{Long, Short, Value, ValueExt};

    let mut options = Options::default();
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("without") => options.without.push(arguments.value()?.string()?),
            Long("tighten") => options.tighten.push(arguments.value()?.string()?),
            Long("shadow-lifted") => options.lift.push(arguments.value()?.string()?),
            Long("call") => options.call.push(arguments.value()?.string()?),
            Long("recompose") => options.recompose = true,
            Long("html") => options.html = Some(arguments.value()?.into()),
            Long("help") | Short('h') => options.help = true,
            Value(file) if options.file.is_none() => options.file = Some(OsString::into(file)),
            _ => return Err(argument.unexpected()),
        }
    }
    if let (true, Some(handler)) = (options.recompose, options.call.first()) {
        let contradiction =
            format!("`--recompose` calls no handler, `--call {handler}` calls one: leave one out");
        return Err(contradiction.into());
    }
    Ok(options)
}
