//! Says what hook files would do, runs them, and shows what would run.

mod arguments;
mod input;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arguments::{Arguments, Fire, Task};
use hooks_bridge::check::Check;
use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::trust::{Grants, Trust};
use hooks_bridge::{Bridge, Dialect, Fired, Mode};

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
        Task::Check { json } => {
            // Its files are shown as they are named.
            input::project(project.clone())?;
            check(&project.unwrap_or_else(|| PathBuf::from(".")), &files, json)
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
fn check(project: &Path, files: &[PathBuf], json: bool) -> Result<ExitCode, Failure> {
    let check = match files {
        [] => Check::folder(project),
        [folder] if folder.is_dir() => Check::folder(folder),
        files => Check::files(files, project),
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
    let stdin = input::payload()?;
    // Wherever the file is, its commands run here and now: that takes a grant, or `--trust`.
    let plan = Plan::read(&[Source::new(dialect, config, Origin::Project)], project);
    let trust = if trust { Trust::everything() } else { Trust::granted(grants) };
    let mode = if faithful { Mode::Faithful } else { Mode::Strict };
    let bridge = |plan| http(Bridge::new(project, plan).mode(mode).trust(trust));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let fired = runtime.block_on(Fired::fire(dialect, &event, stdin, plan, bridge));
    // A request that was not answered in time is not waited for.
    runtime.shutdown_background();
    print(&format!("{}\n", serde_json::to_string(&fired)?))?;
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
