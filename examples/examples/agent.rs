//! An agent at work: what is said, and beside it what its plugins do.
//!
//! `cargo run --example agent`

use std::error::Error;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use hooks_examples::agent::{ChatCompletions, Record, SystemClock, line};
use hooks_examples::files::is_one_file;
use hooks_examples::house::House;
use hooks_examples::inspected::Inspected;
use hooks_examples::recorded::Recorded;
use hooks_examples::view::{self, Look, Output};
use hooks_examples::{day, hook_files, replayed};
use terminal_size::{Width, terminal_size};

type Failure = Box<dyn Error + Send + Sync>;

/// Before each answer of the model and between days, so that a person can follow.
const PAUSE: Duration = Duration::from_millis(700);

const HELP: &str = "\
An agent that runs on hooks.

  cargo run --example agent                     a scripted day; no network
  cargo run --example agent -- --model-url URL --model NAME [MESSAGE]...
                                                a model that speaks the chat-completions
                                                shape; without messages, one a line is read
  cargo run --example agent -- --inspect[=PORT] the scripted day again and again, with a page
                                                in a browser to watch and change what runs

options
  --all              show fires without handlers too, each in its row
  --no-pager         write to the terminal itself
  --html FILE        write a page with the timeline: filters, search, keys
  --svg FILE         write a picture of the timeline's longest part
  --trace FILE       write the report of every fire as a line of JSON
  --record FILE      record every fire and call, with payloads and answers, as lines of JSON
  --shadow HANDLER   call the handler to no effect, as plugin/handler: what it would have decided
                     is in the timeline and in the recording
  --hooks DIR        run the hook scripts of coding agents that the files in DIR name, such
                     as `.claude/settings.json`: naming the folder is trusting them
  --model-url URL    such as http://localhost:8080/v1 (https:// needs --features https)
  --model NAME       the model's name there
  --help             this text

environment
  MODEL_API_KEY      the key of that model, if it wants one
  NO_COLOR           no colour
  PAGER              what shows the timeline in a terminal, instead of `less -FRX`";

#[derive(Default)]
struct Options {
    all: bool,
    no_pager: bool,
    html: Option<PathBuf>,
    svg: Option<PathBuf>,
    trace: Option<PathBuf>,
    record: Option<PathBuf>,
    shadow: Vec<String>,
    hooks: Option<PathBuf>,
    url: Option<String>,
    model: Option<String>,
    messages: Vec<String>,
    /// With the port; zero for any that is free.
    inspect: Option<u16>,
    help: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match agent().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn agent() -> Result<(), Failure> {
    let options = options()?;
    if options.help {
        let mut output = Output::plain();
        output.write(&format!("{HELP}\n"));
        return Ok(output.finish()?);
    }
    // A panic of a plugin is in the timeline, not printed in the middle of it.
    std::panic::set_hook(Box::new(|_| {}));

    if let Some(port) = options.inspect {
        return inspect(port).await;
    }
    let scripted = options.url.is_none() && options.messages.is_empty();
    if options.url.is_some() != options.model.is_some() || !(scripted || options.url.is_some()) {
        return Err("messages need both `--model-url` and `--model`; see `--help`".into());
    }
    // Before the run, which would be lost where a file cannot be written.
    let files = Files {
        trace: Target::open("the trace", options.trace.as_ref())?,
        html: Target::open("the page", options.html.as_ref())?,
        svg: Target::open("the picture", options.svg.as_ref())?,
    };
    let look = Look { all: options.all, ..look() };
    // What is typed is answered at once, below it.
    let typed = !scripted && options.messages.is_empty();
    let mut output = if look.width.is_none() || options.no_pager || typed {
        Output::plain()
    } else {
        Output::paged(std::env::var_os("PAGER").as_deref())
    };
    let ran = run(options, files, look, &mut output).await;
    if output.is_paged() {
        // Until the pager is left, the key that interrupts is the pager's.
        tokio::spawn(async { while tokio::signal::ctrl_c().await.is_ok() {} });
        tokio::task::yield_now().await;
    }
    output.finish()?;
    // After the pager, which has the screen while it runs.
    for written in ran? {
        eprintln!("{written}");
    }
    Ok(())
}

/// Lives through the day again and again, until it is interrupted.
async fn inspect(port: u16) -> Result<(), Failure> {
    let mut inspected = Inspected::open(port, PAUSE).await?;
    println!("watch and change the agent at {}", inspected.address());
    println!("until Ctrl-C");
    let days = async {
        loop {
            inspected.day().await?;
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        failed = days => failed,
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}

/// What is asked for besides the timeline.
struct Files {
    trace: Option<Target>,
    html: Option<Target>,
    svg: Option<Target>,
}

/// A file that can be written.
struct Target {
    what: &'static str,
    path: PathBuf,
    file: File,
}

impl Target {
    /// Opens the file, and leaves what is in it: the run may fail.
    fn open(what: &'static str, path: Option<&PathBuf>) -> Result<Option<Self>, String> {
        let Some(path) = path else { return Ok(None) };
        match OpenOptions::new().write(true).create(true).truncate(false).open(path) {
            Ok(file) => Ok(Some(Self { what, path: path.clone(), file })),
            Err(error) => Err(format!("cannot write {what} to `{}`: {error}", path.display())),
        }
    }

    /// Replaces what is in the file; says where it is.
    fn write(mut self, text: &str) -> Result<String, String> {
        let (what, path) = (self.what, self.path.display());
        // What is no file, as a pipe, has no length to set.
        let emptied = self
            .file
            .metadata()
            .and_then(|it| if it.is_file() { self.file.set_len(0) } else { Ok(()) });
        match emptied.and_then(|()| self.file.write_all(text.as_bytes())) {
            Ok(()) => Ok(format!("{what} is in `{path}`")),
            Err(error) => Err(format!("cannot write {what} to `{path}`: {error}")),
        }
    }
}

/// Lives through the day, or talks with the model; writes what is asked for, and says
/// where it is.
async fn run(
    options: Options,
    files: Files,
    look: Look,
    output: &mut Output,
) -> Result<Vec<String>, Failure> {
    output.write(&look.legend());
    let mut records = Vec::new();
    let show = |record: Record| {
        output.write(&look.record(&record));
        records.push(record);
    };
    let house = if let (Some(url), Some(model)) = (&options.url, &options.model) {
        let key = std::env::var("MODEL_API_KEY").ok();
        let model = ChatCompletions::new(url, model, key);
        House::new(Box::new(model), SystemClock)?
    } else {
        day::house()?
    };
    connect(&house, options.hooks.as_deref())?;
    for handler in &options.shadow {
        replayed::shadow(house.agent.hooks(), handler)?;
    }
    let record = |path: &PathBuf| Recorded::start(house.agent.hooks(), path);
    let recorded = options.record.as_ref().map(record).transpose()?;
    if options.url.is_some() {
        talk(&house, options.messages, show).await;
    } else {
        day::live(&house, show).await?;
    }

    let summary = view::summary(&house)?;
    output.write(&look.summary(&summary));
    let mut written = Vec::new();
    if let Some(recorded) = recorded {
        written.push(recorded.close().await);
    }
    if let Some(trace) = files.trace {
        written.push(trace.write(&view::json_lines(&records)?)?);
    }
    if let Some(html) = files.html {
        written.push(html.write(&view::page(&records, &summary))?);
    }
    if let Some(svg) = files.svg {
        written.push(svg.write(&view::picture(&records))?);
    }
    Ok(written)
}

/// Has hook scripts take part, and says what is odd about their files.
fn connect(house: &House, folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    for odd in hook_files::connect(house.agent.hooks(), folder)? {
        eprintln!("odd: {odd}");
    }
    Ok(())
}

/// Hands the agent these messages, or each line as it is typed.
async fn talk(house: &House, messages: Vec<String>, mut show: impl FnMut(Record)) {
    let (inlet, inbox) = line();
    // The loop ends when the thread has let go of the inlet.
    std::thread::spawn(move || {
        let say = |message: String| inlet.write("cli", "desk", &message);
        if messages.is_empty() {
            std::io::stdin().lines().map_while(Result::ok).for_each(say);
        } else {
            messages.into_iter().for_each(say);
        }
    });
    house.agent.serve(inbox, &mut show).await;
    house.agent.settle().await.into_iter().for_each(show);
}

fn look() -> Look {
    let width = terminal_size().map(|(Width(width), _)| usize::from(width));
    let width = width.filter(|_| std::io::stdout().is_terminal());
    Look::new(width, std::env::var_os("NO_COLOR").as_deref())
}

fn options() -> Result<Options, lexopt::Error> {
    use lexopt::prelude::{Long, Short, Value, ValueExt};

    let mut options = Options::default();
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("all") => options.all = true,
            Long("no-pager") => options.no_pager = true,
            Long("svg") => options.svg = Some(arguments.value()?.into()),
            Long("trace") => options.trace = Some(arguments.value()?.into()),
            Long("record") => options.record = Some(arguments.value()?.into()),
            Long("shadow") => options.shadow.push(arguments.value()?.string()?),
            Long("html") => options.html = Some(arguments.value()?.into()),
            Long("hooks") => options.hooks = Some(arguments.value()?.into()),
            Long("model-url") => options.url = Some(arguments.value()?.string()?),
            Long("model") => options.model = Some(arguments.value()?.string()?),
            Long("inspect") => {
                let port = arguments.optional_value();
                options.inspect = Some(port.map_or(Ok(0), |port| port.parse())?);
            }
            Long("help") | Short('h') => options.help = true,
            Value(message) => options.messages.push(OsString::string(message)?),
            _ => return Err(argument.unexpected()),
        }
    }
    let Options { trace, html, svg, record, .. } = &options;
    let files = [("--trace", trace), ("--html", html), ("--svg", svg), ("--record", record)];
    let files: Vec<_> =
        files.iter().filter_map(|(name, file)| Some((name, (*file).as_ref()?))).collect();
    for (at, (name, file)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..at].iter().find(|(_, other)| is_one_file(file, other)) {
            let file = file.display();
            return Err(format!("`{other}` and `{name}` cannot both write to `{file}`").into());
        }
    }
    Ok(options)
}
