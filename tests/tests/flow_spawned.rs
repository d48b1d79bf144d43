//! Runs of a flow in tasks of their own and behind `dyn Future + Send` (L24),
//! whatever the validation and the operation fail with.

mod flow_support;

use std::borrow::Cow;
use std::error::Error;
use std::io;
use std::pin::Pin;

use flow_support::*;
use hooks_runtime::{BoxError, HookRegistry, hook_points};
use tokio::task::yield_now;

type Boxed = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// What each run of these ends with: the validation knows `ls` and `cp`, the
/// operation `ls` alone.
const ENDS: [(&str, &str); 3] = [
    ("ls", "answered: ls"),
    ("cp", "unknown"),
    ("rm", "the input of `tools:run` is not valid: unknown"),
];

/// Spawned, and boxed as a handler of a web framework is, with closures and with
/// functions that fail with an `$error`. Each wait is one across which the run has
/// all its parts.
macro_rules! runs_that_fail_with {
    ($($test:ident: $error:ty = $unknown:expr;)*) => {$(
        #[tokio::test]
        async fn $test() {
            async fn valid(Call(name): &Call) -> Result<(), $error> {
                yield_now().await;
                if name == "rm" { Err($unknown) } else { Ok(()) }
            }
            async fn operate(Call(name): Call) -> Result<Answer, $error> {
                yield_now().await;
                if name == "ls" { Ok(Answer(name)) } else { Err($unknown) }
            }
            fn boxed_functions(hooks: HookRegistry, name: &'static str) -> Boxed {
                Box::pin(async move {
                    hooks.flow::<RunTool>().validate_async(valid).run(call(name), operate).await
                })
            }
            fn boxed_closures(hooks: HookRegistry, name: &'static str) -> Boxed {
                Box::pin(async move {
                    let known = ["ls", "cp"];
                    hooks
                        .flow::<RunTool>()
                        .validate_async(async |call: &Call| {
                            yield_now().await;
                            if known.contains(&&*call.0) { Ok(()) } else { valid(call).await }
                        })
                        .run(call(name), async |Call(name)| {
                            yield_now().await;
                            if name == known[0] { Ok(Answer(name)) } else { Err::<_, $error>($unknown) }
                        })
                        .await
                })
            }
            let hooks = HookRegistry::new();
            for (name, end) in ENDS {
                let spawned = hooks.clone();
                let run = tokio::spawn(async move {
                    spawned.flow::<RunTool>().validate_async(valid).run(call(name), operate).await
                });
                assert_eq!(told(&run.await.unwrap()), end, "functions");
                let spawned = hooks.clone();
                let run = tokio::spawn(async move {
                    let known = ["ls", "cp"];
                    let valid = async |call: &Call| {
                        yield_now().await;
                        if known.contains(&&*call.0) { Ok(()) } else { Err::<_, $error>($unknown) }
                    };
                    let operate = async |Call(name)| {
                        yield_now().await;
                        if name == known[0] { Ok(Answer(name)) } else { Err::<_, $error>($unknown) }
                    };
                    let run = spawned.flow::<RunTool>().validate_async(valid);
                    run.run_reported(call(name), operate).await.0
                });
                assert_eq!(told(&run.await.unwrap()), end, "closures");
                assert_eq!(told(&boxed_functions(hooks.clone(), name).await), end, "boxed functions");
                assert_eq!(told(&boxed_closures(hooks.clone(), name).await), end, "boxed closures");
            }
            let spawned = hooks.clone();
            let run = tokio::spawn(async move {
                let run = spawned.flow::<RunTool>().validate(|_| Err::<_, $error>($unknown));
                run.run(call("ls"), operate).await
            });
            assert_eq!(told(&run.await.unwrap()), ENDS[2].1, "a validation in line");
            let run = tokio::spawn(async move {
                let operation = async |_| Err::<_, $error>($unknown);
                hooks.run_flow::<RunTool, _>(call("ls"), operation).await
            });
            assert_eq!(told(&run.await.unwrap()), ENDS[1].1, "in one call");
        }
    )*};
}

runs_that_fail_with! {
    l24_runs_that_fail_with_a_string_can_be_spawned: String = "unknown".to_owned();
    l24_runs_that_fail_with_text_can_be_spawned: &'static str = "unknown";
    l24_runs_that_fail_with_borrowed_or_owned_text_can_be_spawned: Cow<'static, str> =
        Cow::Borrowed("unknown");
    l24_runs_that_fail_with_an_error_can_be_spawned: io::Error = io::Error::other("unknown");
    l24_runs_that_fail_with_a_boxed_error_can_be_spawned: Box<dyn Error + Send + Sync> =
        "unknown".into();
    l24_runs_that_fail_with_a_box_error_can_be_spawned: BoxError = "unknown".into();
}

hook_points! {
    /// A flow whose input and output borrow from the program.
    pub flow Translate(&'static str) -> Cow<'static, str>;
}

/// With functions; closures of such types cannot be spawned.
#[tokio::test]
async fn l24_runs_of_functions_that_borrow_from_the_program_can_be_spawned() {
    async fn valid(text: &&'static str) -> Result<(), BoxError> {
        yield_now().await;
        if text.is_empty() { Err("nothing to translate".into()) } else { Ok(()) }
    }
    async fn translate(text: &'static str) -> Result<Cow<'static, str>, BoxError> {
        yield_now().await;
        Ok(text.into())
    }
    let hooks = HookRegistry::new();
    let run = tokio::spawn(async move {
        hooks.flow::<Translate>().validate_async(valid).run("lamp", translate).await
    });
    assert_eq!(run.await.unwrap().unwrap(), "lamp");
}
