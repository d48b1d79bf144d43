//! Says what hook files would do, runs them, and shows what would run.

mod arguments;

use std::io::{self, Read, Write};
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
    let project = project.unwrap_or_else(|| PathBuf::from("."));
    match task {
        Task::Help => {
            print(&arguments::help())?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Check { json } => check(&project, &files, json),
        Task::Preview => preview(&project, grants, &files),
        Task::Fire(fire) => {
            let grants = read_grants(grants, &project)?;
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
    if json {
        print(&format!("{}\n", serde_json::to_string_pretty(&check)?))?;
    } else {
        print(&check.to_string())?;
    }
    Ok(if check.is_suspicious() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn preview(
    project: &Path,
    grants: Option<PathBuf>,
    files: &[PathBuf],
) -> Result<ExitCode, Failure> {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let grants = read_grants(grants, &project)?;
    let sources: Vec<Source> = if files.is_empty() {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let found = Dialect::ALL.into_iter();
        found.flat_map(|dialect| Plan::files(dialect, &project, home.as_deref())).collect()
    } else {
        let check = Check::files(files, &project);
        let dialect = |name: &str| name.parse::<Dialect>();
        let source = |file: &hooks_bridge::check::CheckedFile| {
            dialect(file.dialect).map(|dialect| Source::new(dialect, &file.file, Origin::Project))
        };
        check.files.iter().map(source).collect::<Result<_, _>>()?
    };
    let plan = Plan::read(&sources, &project);
    for error in &plan.errors {
        eprintln!("error: {error}");
    }
    let failed = !plan.errors.is_empty();
    let preview = Bridge::new(&project, plan).trust(Trust::granted(grants)).preview();
    print(&preview.to_string())?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn fire_event(fire: Fire, project: &Path, grants: Grants) -> Result<ExitCode, Failure> {
    let Fire { event, config, dialect, faithful, trust } = fire;
    let mut stdin = Vec::new();
    io::stdin().read_to_end(&mut stdin)?;
    let stdin = serde_json::from_slice(&stdin).unwrap_or_else(|error| {
        // What is no object is refused, which is printed as every other outcome is.
        eprintln!("error: the payload on stdin is no JSON: {error}");
        serde_json::Value::Null
    });
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    // Wherever the file is, its commands run here and now: that takes a grant, or `--trust`.
    let plan = Plan::read(&[Source::new(dialect, config, Origin::Project)], &project);
    let trust = if trust { Trust::everything() } else { Trust::granted(grants) };
    let mode = if faithful { Mode::Faithful } else { Mode::Strict };
    let bridge = |plan| Bridge::new(&project, plan).mode(mode).trust(trust);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let fired = runtime.block_on(Fired::fire(dialect, &event, stdin, plan, bridge));
    print(&format!("{}\n", serde_json::to_string(&fired)?))?;
    Ok(ExitCode::from(fired.exit_code()))
}

/// Prints to a reader who may have read enough.
fn print(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// The grants of the operator: in a file of theirs, outside of the project.
fn read_grants(file: Option<PathBuf>, project: &Path) -> Result<Grants, Failure> {
    let usual = || {
        // One that is empty or relative counts as not set.
        let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let folder = folder.filter(|folder| folder.is_absolute());
        let folder =
            folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
        folder.map(|folder| folder.join("hooks-bridge/grants"))
    };
    match file.or_else(usual) {
        Some(file) => Ok(Grants::read(&file, project)?),
        None => Ok(Grants::default()),
    }
}
