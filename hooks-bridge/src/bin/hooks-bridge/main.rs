//! Says what hook files would do, runs them, and shows what would run.

mod arguments;
mod input;
mod others;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arguments::{Arguments, Fire, Task};
use hooks_bridge::check::{Check, Checker};
use hooks_bridge::config::{Entry, Origin, Plan, Source};
use hooks_bridge::trust::{Grants, Trust};
use hooks_bridge::{Bridge, Dialect, Fired, Mode, Outcome};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, Failure> {
    let Arguments { task, project, grants, files } = Arguments::read(lexopt::Parser::from_env())?;
    match task {
        Task::Help => {
            print(&arguments::help())?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Version => {
            print(concat!("hooks-bridge ", env!("CARGO_PKG_VERSION"), "\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Check(task) => {
            // Its files are shown as they are named.
            input::project(project.clone())?;
            check(&project.unwrap_or_else(|| PathBuf::from(".")), &files, task)
        }
        Task::Preview => {
            let project = input::project(project)?;
            let grants = input::grants(grants, &project)?;
            preview(&project, grants, &files)
        }
        Task::Fire(fire) => {
            let project = input::project(project)?;
            let grants = input::grants(grants, &project)?;
            fire_event(fire, &project, grants)
        }
    }
}

/// Exit code 1 where something is suspicious.
fn check(
    project: &Path,
    files: &[PathBuf],
    arguments::Check { json, tools, urls }: arguments::Check,
) -> Result<ExitCode, Failure> {
    let checker = tools.into_iter().fold(Checker::default(), Checker::tool);
    let checker = if urls.is_empty() { checker } else { allowing(checker, &urls)? };
    let check = match files {
        [] => checker.folder(project),
        [folder] if folder.is_dir() => checker.folder(folder),
        files => checker.files(files, project),
    };
    if check.files.is_empty() {
        let folder = files.first().map_or(project, PathBuf::as_path).display().to_string();
        let folder = hooks_runtime::report::escaped(&folder);
        let places = Dialect::ALL.map(|dialect| dialect.project_files()[0]).join(", ");
        eprintln!("note: `{folder}` has none of these files: {places}");
    }
    if json {
        print(&format!("{}\n", serde_json::to_string_pretty(&check)?))?;
    } else {
        print(&check.to_string())?;
    }
    Ok(if check.is_suspicious() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Exit code 1 where a file cannot be read.
fn preview(project: &Path, grants: Grants, files: &[PathBuf]) -> Result<ExitCode, Failure> {
    let every = |folder: &Path, home: Option<&Path>| -> Vec<Source> {
        let files = |dialect| Plan::files(dialect, folder, home);
        Dialect::ALL.into_iter().flat_map(files).collect()
    };
    let sources = match files {
        [] => every(project, std::env::var_os("HOME").map(PathBuf::from).as_deref()),
        [folder] if folder.is_dir() => every(folder, None),
        files => {
            let source = |file: &hooks_bridge::check::CheckedFile| {
                let dialect = file.dialect.parse::<Dialect>()?;
                Ok::<_, Failure>(Source::new(dialect, &file.file, Origin::Project))
            };
            Check::files(files, project).files.iter().map(source).collect::<Result<_, _>>()?
        }
    };
    let plan = Plan::read(&sources, project);
    for error in &plan.errors {
        eprintln!("error: {error}");
    }
    let failed = !plan.errors.is_empty();
    let preview = Bridge::new(project, plan).trust(Trust::granted(grants)).preview();
    print(&preview.to_string())?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn fire_event(fire: Fire, project: &Path, grants: Grants) -> Result<ExitCode, Failure> {
    let http = http(&fire.urls, &fire.variables)?;
    let Fire { event, config, dialect, faithful, trust, .. } = fire;
    let shown = hooks_runtime::report::escaped(&config.display().to_string()).to_string();
    let stdin = match input::payload()? {
        Ok(stdin) => stdin,
        Err(why) => {
            eprintln!("error: {why}");
            return printed(&Fired::failed(why));
        }
    };
    if let Some(why) = others::written_otherwise(&config, dialect, &event) {
        return printed(&Fired::failed(why));
    }
    others::unread(&config, dialect, &event, project);
    // Wherever the file is, its commands run here and now: that takes a grant, or `--trust`.
    let plan = Plan::read(&[Source::new(dialect, config, Origin::Project)], project);
    let matched = |entry: &&Entry| entry.event == event && entry.matcher.is_some();
    let key = plan.entries.iter().find(matched).and_then(|_| dialect.matched_key(&event));
    match key.filter(|_| stdin.is_object()).map(|key| (key, stdin.get(key))) {
        Some((key, None)) => {
            eprintln!("note: the payload has no `{key}`, so every matcher is met");
        }
        Some((key, Some(value))) if !value.is_string() => {
            eprintln!("note: `{key}` of the payload is no text, so every matcher is met");
        }
        _ => {}
    }
    let errors: Vec<_> = plan.errors.iter().map(ToString::to_string).collect();
    let trust = if trust { Trust::everything() } else { Trust::granted(grants) };
    let mode = if faithful { Mode::Faithful } else { Mode::Strict };
    let bridge = |plan| http(Bridge::new(project, plan).mode(mode).trust(trust));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let fired = runtime.block_on(Fired::fire(dialect, &event, stdin, plan, bridge));
    // What is wrong with the event itself is its outcome.
    for error in errors.iter().filter(|error| fired.reason.as_ref() != Some(*error)) {
        eprintln!("note: {error}");
    }
    for handler in &fired.handlers {
        for notice in &handler.notices {
            let command = hooks_runtime::report::escaped(&handler.command);
            eprintln!("note: `{command}`: {}", hooks_runtime::report::escaped(notice));
        }
    }
    if fired.outcome == Outcome::None && !fired.handlers.iter().any(|it| it.took_ms.is_some()) {
        let (event, product) = (hooks_runtime::report::escaped(&event), dialect.product());
        let what = format!("has no command for `{event}` as {product} reads it");
        let what = if fired.handlers.is_empty() { what } else { "has no command for this".into() };
        eprintln!("note: `{shown}` {what}; nothing was asked");
    }
    // A request that was not answered in time is not waited for.
    runtime.shutdown_background();
    printed(&fired)
}

/// Prints what came of a fire, and says it with the exit code.
fn printed(fired: &Fired) -> Result<ExitCode, Failure> {
    print(&format!("{}\n", serde_json::to_string(fired)?))?;
    Ok(ExitCode::from(fired.exit_code()))
}

/// Lets a bridge post to these addresses.
#[cfg(feature = "http")]
fn http(urls: &[String], variables: &[String]) -> Result<impl FnOnce(Bridge) -> Bridge, Failure> {
    let mut http = hooks_bridge::http::Http::default();
    for url in urls {
        http = http.address(url)?;
    }
    let http = variables.iter().fold(http, hooks_bridge::http::Http::variable);
    Ok(move |bridge: Bridge| bridge.http(http))
}

/// Has a check know which addresses may be posted to.
#[cfg(feature = "http")]
fn allowing(checker: Checker, urls: &[String]) -> Result<Checker, Failure> {
    let mut http = hooks_bridge::http::Http::default();
    for url in urls {
        http = http.address(url)?;
    }
    Ok(checker.allow(move |url| http.is_allowed(url)))
}

/// Without the feature no request is made.
#[cfg(not(feature = "http"))]
fn allowing(checker: Checker, urls: &[String]) -> Result<Checker, Failure> {
    http(urls, &[]).map(drop)?;
    Ok(checker)
}

/// Without the feature there are no requests to be allowed.
#[cfg(not(feature = "http"))]
fn http(urls: &[String], variables: &[String]) -> Result<impl FnOnce(Bridge) -> Bridge, Failure> {
    if !(urls.is_empty() && variables.is_empty()) {
        return Err(
            "this tool was built without requests: install it with `--features http`".into()
        );
    }
    Ok(|bridge| bridge)
}

/// Prints to a reader who may have read enough.
fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => Ok(printed.map_err(|error| format!("stdout cannot be written: {error}"))?),
    }
}
