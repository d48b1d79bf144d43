//! What an operator reads of a fire (L21): a table.

use hooks_runtime::report::FireReport;
use hooks_runtime::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext, Gate,
    HookRegistry, Plugins, Verdict, hook_points, on,
};

hook_points! {
    /// A kettle boils.
    pub void Boil { litres: u32 }
    /// Before a cup is served.
    pub gating Serve(u32);
    /// A pot is made.
    pub flow Brew(u32) -> u32;
}

/// The rows, each cut into cells of these widths; the last is what is left.
///
/// A cell that does not begin where its column begins fails here.
fn cells(report: &str, indent: usize, widths: [usize; 2]) -> Vec<[String; 4]> {
    let mut times = Vec::new();
    let rows = report.lines().filter(|line| !line[indent..].starts_with(' '));
    let rows = rows.filter(|line| line.starts_with(&" ".repeat(indent)));
    let cells: Vec<[String; 4]> = rows
        .map(|line| {
            let (handler, rest) = line[indent..].split_at(widths[0]);
            let (owner, rest) = rest.strip_prefix("  ").unwrap().split_at(widths[1]);
            let rest = rest.strip_prefix("  ").unwrap();
            let time = rest.trim_start().split("  ").next().unwrap();
            let status = rest.trim_start().split_once("  ").unwrap().1;
            times.push(rest.chars().count() - status.chars().count());
            let timed = if time == "-" { "-" } else { "time" };
            [handler.trim_end(), owner.trim_end(), timed, status].map(str::to_owned)
        })
        .collect();
    assert!(
        times.windows(2).all(|pair| pair[0] == pair[1]),
        "the last column is ragged:\n{report}"
    );
    cells
}

async fn boil(hooks: &HookRegistry, scope: Plugins) -> FireReport {
    let (_, report) =
        hooks.scope(scope).fire_void_reported::<Boil>(&BoilPayload { litres: 1 }).await;
    report
}

#[tokio::test]
async fn l21_a_fire_without_handlers_says_so() {
    let report = boil(&HookRegistry::new(), Plugins::All).await;
    assert_eq!(report.to_string(), "boil (void)\n  no handlers");
}

#[tokio::test]
async fn l21_handlers_that_were_not_called_have_a_dash_for_their_time() {
    let hooks = HookRegistry::new();
    for (name, plugin) in [("whistle", "kettle"), ("ring", "bell_of_brass")] {
        let handler = on::<Boil>().name(name).plugin(plugin).handler(|_: &BoilPayload| ());
        hooks.register(handler).unwrap();
    }
    let report = boil(&hooks, Plugins::BuiltIn).await;
    assert_eq!(
        report.to_string(),
        "boil (void)\n\
         \x20 whistle  plugin `kettle`         -  not called: its plugin is not in scope\n\
         \x20 ring     plugin `bell_of_brass`  -  not called: its plugin is not in scope"
    );
}

#[tokio::test]
async fn l21_columns_are_aligned_whatever_stands_in_them() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Serve>().name("warm the cup").handler(|cup: &u32| Verdict::Replace(cup + 1)),
            on::<Serve>().name("cool").plugin("ice").guard(|_: &u32| Verdict::reject("too\nhot")),
            on::<Serve>().name("never").guard(|_: &u32| Verdict::Pass),
        ])
        .unwrap();
    let (gate, report) = hooks.fire_gating_reported::<Serve>(1).await;
    assert!(matches!(gate, Ok(Gate::Rejected(_))));
    let shown = report.to_string();
    assert!(shown.starts_with("serve (gating)\n"));
    let rows = cells(&shown, 2, ["warm the cup".len(), "plugin `ice`".len()]);
    assert_eq!(
        rows,
        [
            ["warm the cup", "built-in", "time", "replaced the payload"],
            // What a handler says stays in its row.
            ["cool", "plugin `ice`", "time", r"rejected: too\nhot"],
            ["never", "built-in", "-", "not called: an earlier handler rejected"],
        ]
        .map(|row| row.map(str::to_owned)),
    );
}

#[tokio::test]
async fn l21_the_stages_of_a_flow_share_their_columns() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<BeforeExecute<Brew>>().name("warm the pot").handler(
                |flow: &mut FlowContext<Brew>| {
                    flow.skip();
                },
            ),
            on::<AfterExecute<Brew>>()
                .name("pour")
                .plugin("urn")
                .handler(|_: &mut FlowContext<Brew>| Err::<(), _>("\u{1b}[2Jdry")),
        ])
        .unwrap();
    let operation = async |litres| Ok::<_, std::io::Error>(litres);
    let (_, report) = hooks.flow::<Brew>().run_reported(1, operation).await;
    let shown = report.to_string();
    let heads = shown.lines().filter(|line| !line.starts_with("    "));
    let heads: Vec<_> = heads.map(|line| line.split("   ").next().unwrap()).collect();
    assert_eq!(heads, ["brew (flow)", "  beforeExecute", "  operation", "  afterExecute"]);
    assert_eq!(
        cells(&shown, 4, ["warm the pot".len(), "plugin `urn`".len()]),
        [
            ["warm the pot", "built-in", "time", "skipped the rest of the stage"],
            ["pour", "plugin `urn`", "time", r"error, fail-closed: \u{1b}[2Jdry"],
        ]
        .map(|row| row.map(str::to_owned)),
    );
    let (_, quiet) = HookRegistry::new().flow::<Brew>().run_reported(1, operation).await;
    let shown = quiet.to_string();
    let Some(operation) = shown.strip_prefix("brew (flow)\n  no handlers\n  operation    ") else {
        panic!("{shown}")
    };
    assert_eq!(operation.split_once("  ").unwrap().1, "ran");
}

/// The validation and the operation stand where they happened, in the columns
/// of the handlers.
#[tokio::test]
async fn l21_the_steps_of_a_flow_stand_between_its_stages() {
    let hooks = HookRegistry::new();
    let nothing = |_: &mut FlowContext<Brew>| ();
    hooks
        .register([
            on::<BeforeValidation<Brew>>().name("rinse").handler(nothing),
            on::<AfterValidation<Brew>>().name("pour").plugin("urn").handler(nothing),
            on::<Finally<Brew>>().name("wash up").handler(nothing),
        ])
        .unwrap();
    let run = hooks.flow::<Brew>().validate(|_| Ok::<_, String>(()));
    let (_, report) = run.run_reported(1, async |_| Err("too\nhot")).await;
    let shown = report.to_string();
    let heads: Vec<_> = shown.lines().filter(|line| !line.starts_with("    ")).collect();
    let names: Vec<_> = heads.iter().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(
        names,
        ["brew", "beforeValidation", "validation", "afterValidation", "operation", "finally"]
    );
    assert!(heads[2].ends_with("  ran"), "{shown}");
    assert!(heads[4].ends_with(r"  error: too\nhot"), "{shown}");
    // The last column begins where it does for the handlers.
    let starts = ["rinse", "pour", "wash up", "validation", "operation"].map(|name| {
        let row = shown.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        let time = row.trim_end().rsplit_once("s  ").unwrap().0;
        time.chars().count()
    });
    assert!(starts.windows(2).all(|pair| pair[0] == pair[1]), "{shown}");
}

#[tokio::test]
async fn l21_an_answer_in_place_of_the_operation_is_reported() {
    let hooks = HookRegistry::new();
    let cache = on::<BeforeExecute<Brew>>().name("cache");
    let cache = cache.handler(|flow: &mut FlowContext<Brew>| {
        flow.respond(7);
        flow.skip();
    });
    let late = on::<BeforeExecute<Brew>>().name("late");
    let sweeten = on::<AfterExecute<Brew>>().name("sweeten");
    let nothing = on::<AfterExecute<Brew>>().name("nothing");
    hooks
        .register([
            cache,
            late.handler(|_: &mut FlowContext<Brew>| ()),
            sweeten.handler(|flow: &mut FlowContext<Brew>| {
                flow.respond(8);
            }),
            nothing.handler(|_: &mut FlowContext<Brew>| ()),
        ])
        .unwrap();
    let operation = async |_| -> Result<u32, std::io::Error> { panic!("not to be called") };
    let (output, report) = hooks.flow::<Brew>().run_reported(1, operation).await;
    assert_eq!(output.unwrap(), 8);
    let told = report.stages().iter().flat_map(|stage| stage.handlers());
    let told: Vec<_> = told.map(|row| format!("{}: {}", row.handler(), row.status())).collect();
    assert_eq!(
        told,
        [
            "cache: answered",
            "late: not called: an earlier handler skipped the rest of the stage",
            "sweeten: answered",
            "nothing: ran",
        ]
    );
}
