// Gates whose rejections have a type for their reason, in a host that is generic.
use std::fmt;

use hooks_runtime::model::Gating;
use hooks_runtime::{
    Gate, HookPoint, HookRegistry, Judgement, Rejection, Verdict, handlers, hook_handler,
    hook_points,
};

#[derive(Debug, PartialEq)]
pub enum Denied {
    Forbidden,
    Other(String),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl From<&str> for Denied {
    fn from(text: &str) -> Self {
        Self::Other(text.to_owned())
    }
}

pub struct Because<T>(pub T);

impl<T> fmt::Display for Because<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("because")
    }
}

hook_points! {
    pub gating Authorize(String) -> Denied;
    pub gating Enter { n: u32 } -> self::Because<Vec<u8>>;
}

#[hook_handler(Authorize)]
fn not_empty(path: &String) -> Verdict<String, Denied> {
    if path.is_empty() { Verdict::reject("empty") } else { Verdict::Pass }
}

#[hook_handler(Authorize, guard)]
async fn not_root(path: &String) -> Result<Judgement<Denied>, fmt::Error> {
    Ok(if path == "/" { Judgement::Reject(Denied::Forbidden) } else { Judgement::Pass })
}

#[hook_handler(Enter, guard)]
fn never(enter: &EnterPayload) -> Judgement<Because<Vec<u8>>> {
    Judgement::Reject(Because(vec![u8::try_from(enter.n).unwrap_or(u8::MAX)]))
}

/// Works for reasons of any type.
async fn rejected<P>(hooks: &HookRegistry, payload: P::Payload) -> Option<Rejection<P::Result>>
where
    P: HookPoint<Model = Gating>,
{
    match hooks.fire_gating::<P>(payload).await.expect("no handler fails") {
        Gate::Passed(_) => None,
        Gate::Rejected(rejection) => {
            let _: &P::Result = rejection.reason();
            Some(rejection)
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![not_empty, not_root, never])?;
    let rejection = rejected::<Authorize>(&hooks, "/".into()).await.expect("it is rejected");
    assert_eq!(rejection.reason(), &Denied::Forbidden);
    let empty = rejected::<Authorize>(&hooks, String::new()).await.expect("it is rejected");
    assert_eq!(empty.into_reason(), Denied::Other("empty".into()));
    assert!(rejected::<Authorize>(&hooks, "/a".into()).await.is_none());
    let never = rejected::<Enter>(&hooks, EnterPayload { n: 1 }).await.expect("it is rejected");
    assert_eq!(never.into_reason().0, [1]);
    Ok(())
}
