//! `flow`: stages around an operation.

use super::{Model, ResultRule};

pub(super) const MODEL: Model = Model {
    word: "flow",
    marker: "Flow",
    result: ResultRule::Plain,
    has_stages: true,
    example: |point, _| {
        let ident = &point.ident;
        [
            format!(
                "hooks.register_stage::<BeforeExecute<{ident}>>(\
                 async |flow: &mut FlowContext<{ident}>| {{ /* … */ }})?;"
            ),
            format!("let output = hooks.flow::<{ident}>().run(input, operation).await?;"),
        ]
    },
};
