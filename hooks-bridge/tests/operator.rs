//! What an operator sets for a command holds for all of its handlers: one target is enough,
//! and no setting opens a gate that it does not name. At gating points, and at modifying
//! points that are gates.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use dialects::{configuration, plan};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, Dialect};
use hooks_points::{BeforeToolCall, BeforeToolCallPayload, BeforeToolCallResult};
use hooks_runtime::operator::{BreakerSettings, BreakerState, NewSetting, RateLimit};
use hooks_runtime::report::FireReport;
use hooks_runtime::{FireError, Gate, HookPoint, HookRegistry, Plugins, ScopedHooks, Verdict, on};
use serde_json::{Value, json};
use support::Scripts;
use tokio::sync::Barrier;

/// Where commands are asked before a tool is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    Gating,
    Modifying,
}

const POINTS: [Point; 2] = [Point::Gating, Point::Modifying];

/// What came of a fire: the input that is used, or why there is none.
type Came = Result<String, String>;

struct Host {
    scripts: Scripts,
    hooks: HookRegistry,
    point: Point,
}

impl Host {
    /// A host whose commands are these: each with further keys.
    fn new(point: Point, commands: impl FnOnce(&Scripts) -> Vec<(String, Value)>) -> Self {
        let (scripts, hooks) = (Scripts::new(), HookRegistry::new());
        let text = configuration(Dialect::ClaudeCode, "PreToolUse", &commands(&scripts));
        let plan = plan(Dialect::ClaudeCode, &text, scripts.path());
        let bridge = Bridge::new(scripts.path(), plan).trust(Trust::everything());
        match point {
            Point::Gating => hooks.register(bridge.gate::<UsingTool>()),
            Point::Modifying => hooks.register(bridge.amend::<BeforeToolCall>()),
        }
        .expect("a registration");
        Self { scripts, hooks, point }
    }

    /// A guard that denies `rm`, and behind it a command that makes `clean` one.
    fn guarded(point: Point) -> Self {
        Self::new(point, |scripts| {
            vec![(guard(scripts), Value::Null), (rewriter(scripts, "clean", "rm x"), Value::Null)]
        })
    }

    fn target(&self, handler: &str) -> String {
        let point = match self.point {
            Point::Gating => UsingTool::NAME,
            Point::Modifying => BeforeToolCall::NAME,
        };
        format!("{point}:claude-code/{handler}")
    }

    async fn fire(&self, command: &str) -> (Came, FireReport) {
        self.fire_in(&self.hooks, command).await
    }

    async fn fire_in(&self, hooks: &ScopedHooks, command: &str) -> (Came, FireReport) {
        let input = json!({ "command": command });
        let text = |input: &Value| input["command"].as_str().unwrap().to_owned();
        let failed = |error: FireError| error.to_string();
        match self.point {
            Point::Gating => {
                let call = UsingToolPayload {
                    session_id: "s".into(),
                    cwd: None,
                    tool_name: "Bash".into(),
                    input,
                };
                let (gate, report) = hooks.fire_gating_reported::<UsingTool>(call).await;
                let came = match gate {
                    Ok(Gate::Passed(call)) => Ok(text(&call.input)),
                    Ok(Gate::Rejected(rejection)) => Err(rejection.into_reason()),
                    Err(error) => Err(failed(error)),
                };
                (came, report)
            }
            Point::Modifying => {
                let call = BeforeToolCallPayload {
                    session_id: "s".into(),
                    tool_call_id: "c".into(),
                    tool_name: "Bash".into(),
                    args: input,
                };
                let (amended, report) =
                    hooks.fire_modifying_reported::<BeforeToolCall>(&call).await;
                let came = match amended {
                    Ok(BeforeToolCallResult { error: Some(error), .. }) => Err(error.to_string()),
                    Ok(BeforeToolCallResult { args, .. }) => Ok(text(&args.unwrap_or(call.args))),
                    Err(error) => Err(failed(error)),
                };
                (came, report)
            }
        }
    }

    /// How often the guard was run.
    fn asked(&self) -> usize {
        let log = fs::read_to_string(self.scripts.path().join("guard.log"));
        log.unwrap_or_default().lines().count()
    }
}

/// A script that denies `rm`, and logs each time that it is asked.
fn guard(scripts: &Scripts) -> String {
    let log = scripts.path().join("guard.log");
    let text = format!(
        "#!/bin/bash\nstdin=$(cat)\necho asked >> {}\ncase $stdin in *rm*) echo no rm >&2; exit 2;; esac\n",
        log.display()
    );
    scripts.script("guard.sh", &text).display().to_string()
}

/// A script that makes one command another.
fn rewriter(scripts: &Scripts, from: &str, to: &str) -> String {
    let answer = json!({ "hookSpecificOutput": { "updatedInput": { "command": to } } });
    let text = format!("#!/bin/bash\nif grep -q '\"{from}\"'; then echo '{answer}'; fi\n");
    scripts.script("rewrite.sh", &text).display().to_string()
}

fn status(report: &FireReport, handler: &str) -> String {
    report.handler(handler).unwrap_or_else(|| panic!("{handler}: {report}")).status().to_string()
}

/// Applies a setting that opens a gate, for which there is a reason and an end.
fn break_glass(setting: NewSetting<'_>) {
    setting.break_glass("it is wrong").until(Duration::from_mins(10)).apply().unwrap();
}

/// L37: without a setting the guard judges what is left, by a handler of its own.
#[tokio::test]
async fn l37_a_command_that_is_asked_again_is_a_handler_that_runs_last() {
    for point in POINTS {
        let host = Host::guarded(point);
        let (came, report) = host.fire("clean").await;
        assert_eq!(came, Err("no rm".into()), "{report}");
        let last = match point {
            Point::Gating => "rejected: no rm",
            Point::Modifying => "set error",
        };
        assert_eq!(status(&report, "guard.sh (again)"), last, "{report}");
        assert_eq!(host.asked(), 2);
        // What nothing changed is not asked about twice.
        assert_eq!(host.fire("ls").await.0, Ok("ls".into()));
        assert_eq!(host.asked(), 3);
    }
}

/// L37: the rewrite of a handler of the host is judged at a modifying point too, also of
/// one that was registered later.
#[tokio::test]
async fn l37_what_the_hosts_own_handler_left_is_judged() {
    let host = Host::new(Point::Modifying, |scripts| vec![(guard(scripts), Value::Null)]);
    let rewrite = |_: &BeforeToolCallPayload| BeforeToolCallResult {
        args: Some(json!({ "command": "rm y" })),
        error: None,
    };
    host.hooks.register(on::<BeforeToolCall>().name("native").handler(rewrite)).unwrap();
    let (came, report) = host.fire("ls").await;
    assert_eq!(came, Err("no rm".into()), "{report}");
}

/// L35: disabled by one target, in the form that opens a gate.
#[tokio::test]
async fn l35_a_command_that_is_disabled_is_not_asked_again() {
    for point in POINTS {
        let host = Host::guarded(point);
        let operator = host.hooks.operator();
        let refused = operator.disable(host.target("guard.sh")).apply().unwrap_err();
        assert!(refused.to_string().contains("break_glass"), "{refused}");
        break_glass(operator.disable(host.target("guard.sh")));
        for (command, left) in [("clean", "rm x"), ("rm y", "rm y")] {
            let (came, report) = host.fire(command).await;
            assert_eq!(came, Ok(left.into()), "{point:?}: {report}");
            assert_eq!(status(&report, "guard.sh"), "not called: disabled");
            assert_eq!(status(&report, "guard.sh (again)"), "not called: disabled");
        }
        assert_eq!(host.asked(), 0);
        // Another command stays as it was.
        assert_eq!(operator.settings().len(), 1);
        assert_ne!(status(&host.fire("clean").await.1, "rewrite.sh"), "not called: disabled");
    }
}

/// L36: in shadow both are asked, and neither has an effect.
#[tokio::test]
async fn l36_a_command_in_shadow_has_no_effect_where_it_is_asked_again() {
    for point in POINTS {
        let host = Host::guarded(point);
        break_glass(host.hooks.operator().shadow(host.target("guard.sh")));
        let (came, report) = host.fire("clean").await;
        assert_eq!(came, Ok("rm x".into()), "{point:?}: {report}");
        assert_eq!(host.asked(), 2, "about `clean`, and about `rm x`");
        let decision = match point {
            Point::Gating => "in shadow: rejected: no rm",
            Point::Modifying => "in shadow: set error",
        };
        assert_eq!(status(&report, "guard.sh (again)"), decision, "{report}");
        let (came, report) = host.fire("rm y").await;
        assert_eq!(came, Ok("rm y".into()), "{point:?}: {report}");
        assert_eq!(status(&report, "guard.sh"), decision, "{report}");
    }
}

/// L36: what a command in shadow would rewrite is used by nobody, and asked about by nobody.
#[tokio::test]
async fn l36_a_rewriter_in_shadow_changes_nothing_for_others() {
    for point in POINTS {
        let host = Host::guarded(point);
        break_glass(host.hooks.operator().shadow(host.target("rewrite.sh")));
        let (came, report) = host.fire("clean").await;
        assert_eq!(came, Ok("clean".into()), "{point:?}: {report}");
        assert_eq!(host.asked(), 1, "{report}");
    }
}

/// L35: a shorter limit holds where it is asked again, and what is too slow closes.
#[tokio::test]
async fn l35_a_time_limit_holds_where_it_is_asked_again() {
    for point in POINTS {
        let host = Host::new(point, |scripts| {
            let slow = "#!/bin/bash\nif grep -q 'rm'; then sleep 30; fi\n";
            let slow = scripts.script("guard.sh", slow).display().to_string();
            vec![(slow, Value::Null), (rewriter(scripts, "clean", "rm x"), Value::Null)]
        });
        let limit = Duration::from_millis(300);
        host.hooks.operator().time_limit(host.target("guard.sh"), limit).apply().unwrap();
        let (came, report) = host.fire("clean").await;
        let error = came.unwrap_err();
        assert!(error.contains("guard.sh (again)") && error.contains("300ms"), "{error}");
        assert!(status(&report, "guard.sh (again)").contains("300ms"), "{report}");
        assert_eq!(host.fire("ls").await.0, Ok("ls".into()));
    }
}

/// L35: an open breaker is a failure where it is asked again, which closes the gate; only
/// the operator's own break-glass lets it pass.
#[tokio::test]
async fn l35_a_breaker_holds_where_it_is_asked_again() {
    for point in POINTS {
        let host = Host::guarded(point);
        let operator = host.hooks.operator();
        let forced = operator.force_breaker(host.target("guard.sh"), BreakerState::Open);
        forced.apply().unwrap();
        let (came, report) = host.fire("clean").await;
        assert!(came.unwrap_err().contains("breaker"), "{point:?}: {report}");
        break_glass(operator.fail_open(host.target("guard.sh")));
        let (came, report) = host.fire("clean").await;
        assert_eq!(came, Ok("rm x".into()), "{point:?}: {report}");
        for handler in ["guard.sh", "guard.sh (again)"] {
            assert!(status(&report, handler).contains("breaker"), "{report}");
        }
        assert_eq!(host.asked(), 0);
    }
}

/// L35: a breaker that counts opens by the failures of the one and of the other.
#[tokio::test]
async fn l35_a_breaker_counts_the_failures_of_each() {
    for point in POINTS {
        let host = Host::new(point, |scripts| {
            let broken = "#!/bin/bash\nif grep -q 'rm'; then exit 1; fi\n";
            let broken = scripts.script("guard.sh", broken).display().to_string();
            vec![(broken, Value::Null), (rewriter(scripts, "clean", "rm x"), Value::Null)]
        });
        let breaker = BreakerSettings::consecutive(2).open_for(Duration::from_mins(10));
        host.hooks.operator().breaker(host.target("guard.sh"), breaker).apply().unwrap();
        for _ in 0..2 {
            let error = host.fire("clean").await.0.unwrap_err();
            assert!(error.contains("exit code 1"), "{error}");
        }
        let error = host.fire("clean").await.0.unwrap_err();
        assert!(error.contains("guard.sh (again)") && error.contains("breaker"), "{error}");
    }
}

/// L35: a call past a rate limit is a failure, which closes the gate.
#[tokio::test]
async fn l35_a_rate_limit_closes_the_gate() {
    for point in POINTS {
        let host = Host::guarded(point);
        let limit = RateLimit::new(1, Duration::from_hours(1));
        host.hooks.operator().rate_limit(host.target("guard.sh"), limit).apply().unwrap();
        assert_eq!(host.fire("clean").await.0, Err("no rm".into()), "within the limit");
        let (came, report) = host.fire("ls").await;
        assert!(came.unwrap_err().contains("rate limit"), "{point:?}: {report}");
    }
}

/// L35: a sample has a command in a fire at both times, or at neither.
#[tokio::test]
async fn l35_a_sample_has_both_or_neither() {
    for point in POINTS {
        let host = Host::guarded(point);
        break_glass(host.hooks.operator().sample(host.target("guard.sh"), 0.5));
        let (mut asked, mut left_out) = (0, 0);
        for _ in 0..40 {
            let before = host.asked();
            let (came, report) = host.fire("clean").await;
            let out = "not called: not in the sample";
            if status(&report, "guard.sh") == out {
                left_out += 1;
                assert_eq!(came, Ok("rm x".into()), "{report}");
                assert_eq!(status(&report, "guard.sh (again)"), out, "{report}");
                assert_eq!(host.asked(), before);
            } else {
                asked += 1;
                assert_eq!(came, Err("no rm".into()), "{report}");
                assert_eq!(host.asked(), before + 2);
            }
        }
        assert!(asked > 5 && left_out > 5, "{asked} and {left_out}");
    }
}

/// L16: a scope without the dialect has none of its handlers.
#[tokio::test]
async fn l16_a_scope_leaves_out_both() {
    for point in POINTS {
        let host = Host::guarded(point);
        let scope = host.hooks.scope(Plugins::only(["gemini"]));
        let (came, report) = host.fire_in(&scope, "rm y").await;
        assert_eq!(came, Ok("rm y".into()), "{report}");
        for handler in ["guard.sh", "guard.sh (again)"] {
            assert_eq!(status(&report, handler), "not called: its plugin is not in scope");
        }
        assert_eq!(host.fire("rm y").await.0, Err("no rm".into()));
    }
}

/// L35: where failures are let pass, decisions still count, and what failed at its turn
/// is not tried again about the same.
#[tokio::test]
async fn l35_failures_that_pass_are_no_decisions_that_pass() {
    for point in POINTS {
        let host = Host::new(point, |scripts| {
            let log = scripts.path().join("guard.log");
            let moody = format!(
                "#!/bin/bash\nstdin=$(cat)\necho asked >> {}\ncase $stdin in *rm*) echo no rm >&2; exit 2;; *) exit 1;; esac\n",
                log.display()
            );
            let moody = scripts.script("guard.sh", &moody).display().to_string();
            vec![(moody, Value::Null), (rewriter(scripts, "clean", "rm x"), Value::Null)]
        });
        assert!(host.fire("ls").await.0.unwrap_err().contains("exit code 1"));
        break_glass(host.hooks.operator().fail_open(host.target("guard.sh")));
        assert_eq!(host.fire("ls").await.0, Ok("ls".into()));
        assert_eq!(host.asked(), 2, "once in each fire");
        assert_eq!(host.fire("clean").await.0, Err("no rm".into()));
    }
}

/// L31: a command whose matcher is met after a rewrite only is asked then.
#[tokio::test]
async fn l31_a_condition_that_a_rewrite_meets_is_asked_about() {
    for point in POINTS {
        let host = Host::new(point, |scripts| {
            let rule = json!({ "if": "Bash(rm *)" });
            vec![(guard(scripts), rule), (rewriter(scripts, "clean", "rm x"), Value::Null)]
        });
        let (came, report) = host.fire("clean").await;
        assert_eq!(came, Err("no rm".into()), "{point:?}: {report}");
        assert_eq!(status(&report, "guard.sh"), "not called: its condition was not met");
        assert_eq!(host.asked(), 1);
        // And not where it is not met.
        assert_eq!(host.fire("ls").await.0, Ok("ls".into()));
        assert_eq!(host.asked(), 1);
        // Disabled, it is not asked then either.
        break_glass(host.hooks.operator().disable(host.target("guard.sh")));
        assert_eq!(host.fire("clean").await.0, Ok("rm x".into()));
        assert_eq!(host.asked(), 1);
    }
}

/// L31: a command that runs once is asked again in the fire of its run, and in no other.
#[tokio::test]
async fn l31_a_command_that_runs_once_has_one_turn() {
    for point in POINTS {
        let once = |scripts: &Scripts, rule: Value| {
            vec![(guard(scripts), rule), (rewriter(scripts, "clean", "rm x"), Value::Null)]
        };
        let host = Host::new(point, |scripts| once(scripts, json!({ "once": true })));
        assert_eq!(host.fire("clean").await.0, Err("no rm".into()), "{point:?}");
        assert_eq!(host.asked(), 2, "at its turn, and again");
        for command in ["clean", "rm y"] {
            assert!(host.fire(command).await.0.is_ok());
        }
        assert_eq!(host.asked(), 2, "{point:?}");
        // Where its matcher is met after a rewrite only, that is its turn.
        let rule = json!({ "once": true, "if": "Bash(rm *)" });
        let host = Host::new(point, |scripts| once(scripts, rule));
        assert_eq!(host.fire("clean").await.0, Err("no rm".into()), "{point:?}");
        assert_eq!(host.fire("rm y").await.0, Ok("rm y".into()), "{point:?}");
        assert_eq!(host.asked(), 1, "{point:?}");
    }
}

/// L31: of many fires at once one has the one turn, also where some come to it at their end,
/// by what a rewrite left, and others at its own turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn l31_of_fires_at_once_one_has_the_one_turn() {
    for point in POINTS {
        for round in 0..12 {
            let rule = json!({ "once": true, "if": "Bash(rm *)" });
            let host = Host::new(point, |scripts| vec![(guard(scripts), rule)]);
            // The host's own, so that all come to the command at the same time.
            match point {
                Point::Gating => host.hooks.register(on::<UsingTool>().name("native").handler(
                    |call: &UsingToolPayload| match call.input["command"].as_str() {
                        Some("clean") => Verdict::Replace(UsingToolPayload {
                            input: json!({ "command": "rm x" }),
                            ..call.clone()
                        }),
                        _ => Verdict::Pass,
                    },
                )),
                Point::Modifying => {
                    host.hooks.register(on::<BeforeToolCall>().name("native").handler(
                        |call: &BeforeToolCallPayload| {
                            let clean = call.args["command"] == "clean";
                            clean.then(|| BeforeToolCallResult {
                                args: Some(json!({ "command": "rm x" })),
                                error: None,
                            })
                        },
                    ))
                }
            }
            .unwrap();
            let host = Arc::new(host);
            let start = Arc::new(Barrier::new(8));
            let fires: Vec<_> = (0..8)
                .map(|index| {
                    let (host, start) = (Arc::clone(&host), Arc::clone(&start));
                    tokio::spawn(async move {
                        start.wait().await;
                        let command = if index % 2 == 0 { "clean" } else { "rm y" };
                        host.fire(command).await.0
                    })
                })
                .collect();
            let mut denied = 0;
            for fire in fires {
                denied += usize::from(fire.await.unwrap() == Err("no rm".into()));
            }
            assert_eq!((denied, host.asked()), (1, 1), "{point:?}, round {round}");
        }
    }
}

/// L31, L36: a call in shadow leaves the one turn of a command that runs once.
#[tokio::test]
async fn l36_a_call_in_shadow_leaves_the_one_turn() {
    for point in POINTS {
        let rule = json!({ "once": true, "if": "Bash(rm *)" });
        let host = Host::new(point, |scripts| {
            vec![(guard(scripts), rule), (rewriter(scripts, "clean", "rm x"), Value::Null)]
        });
        let operator = host.hooks.operator();
        let shadow = operator.shadow(host.target("guard.sh")).break_glass("to see what it says");
        let shadow = shadow.until(Duration::from_mins(10)).apply().unwrap();
        assert_eq!(host.fire("clean").await.0, Ok("rm x".into()), "{point:?}");
        assert_eq!(host.fire("rm y").await.0, Ok("rm y".into()), "{point:?}");
        operator.clear(shadow.id()).unwrap();
        assert_eq!(host.fire("rm y").await.0, Err("no rm".into()), "{point:?}");
    }
}

/// The handler that asks again can be set apart by its own name, and explained by it.
#[tokio::test]
async fn each_handler_has_a_name_for_an_operator() {
    let host = Host::guarded(Point::Gating);
    let operator = host.hooks.operator();
    break_glass(operator.disable(host.target("guard.sh (again)")));
    assert_eq!(host.fire("clean").await.0, Ok("rm x".into()));
    assert_eq!(host.fire("rm y").await.0, Err("no rm".into()), "at its turn it decides");
    let explained = operator.explain(host.target("guard.sh")).unwrap();
    assert_eq!(explained.get("mode").map(|mode| mode.value.as_str()), Some("enforce"));
    let explained = operator.explain(host.target("guard.sh (again)")).unwrap();
    assert_eq!(explained.get("mode").unwrap().value, "disable");
}

/// A rewrite of the host between two commands is seen by the guard at its end.
#[tokio::test]
async fn a_disabled_command_does_not_hide_another() {
    let host = Host::new(Point::Gating, |scripts| {
        let other = "#!/bin/bash\ngrep -q 'rm x' && { echo no x >&2; exit 2; }; exit 0\n";
        let other = scripts.script("other.sh", other).display().to_string();
        vec![(guard(scripts), Value::Null), (other, Value::Null)]
    });
    let rewrite = |call: &UsingToolPayload| {
        Verdict::Replace(UsingToolPayload { input: json!({ "command": "rm x" }), ..call.clone() })
    };
    host.hooks.register(on::<UsingTool>().name("native").handler(rewrite)).unwrap();
    assert_eq!(host.fire("ls").await.0, Err("no rm".into()));
    break_glass(host.hooks.operator().disable(host.target("guard.sh")));
    assert_eq!(host.fire("ls").await.0, Err("no x".into()));
}

/// What `explain` shows of a command's time is what its file sets, and what its end takes.
#[tokio::test]
async fn an_operator_sees_the_limit_of_the_file() {
    let host = Host::new(Point::Gating, |scripts| {
        vec![(guard(scripts), json!({ "timeout": 5 })), ("exit 0".into(), Value::Null)]
    });
    let operator = host.hooks.operator();
    for handler in ["guard.sh", "guard.sh (again)"] {
        let explained = operator.explain(host.target(handler)).unwrap();
        let limit = explained.get("time_limit").map(|limit| limit.value.clone());
        assert_eq!(limit.as_deref(), Some("6.5s"), "5 s, a grace of 500 ms, and a second");
    }
    let explained = operator.explain(host.target("exit 0")).unwrap();
    assert_eq!(explained.get("time_limit").unwrap().value, "none", "its file sets none");
}
