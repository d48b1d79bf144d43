//! What does a fire cost beside a registry in `IronClaw`'s way? Eight hooks
//! look at a message, and let it pass.

use std::time::Duration;

use hooks_runtime::{HookRegistry, on};

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::ironclaw::Lifecycle;
use crate::peers::names::{IRONCLAW, READY};
use crate::points::{Form, Message, Pass, pass_ready, passers};
use crate::questions::gating::{passing, through};

/// The same handlers, each with the time limit that hooks have there.
pub(crate) const LIMITED: &str = "hooks, async handlers, 5 s limit each";

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    vec![table(effort)]
}

pub(crate) fn table(effort: Effort) -> Table {
    let (theirs, message) = (Lifecycle::new(8), Message::new());
    let (ours, limited) = (passers(8, Form::Ready), HookRegistry::new());
    let handler = |_| on::<Pass>().timeout(Duration::from_secs(5)).handler(pass_ready);
    limited.register((0..8).map(handler)).expect("they are registered");
    let contenders = vec![
        passing(READY, async |message| through(&ours, message).await),
        passing(LIMITED, async |message| through(&limited, message).await),
        Contender::on_tokio(IRONCLAW, async || {
            let changed = theirs.run(&message).await.expect("every hook lets it pass");
            assert!(changed.is_none(), "none changes it");
        }),
    ];
    Table::new("8 hooks let a message pass", READY, measure(effort, contenders))
}
