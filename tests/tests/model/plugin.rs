//! A plugin with state: four handlers of four models, in one block.

use hooks_runtime::{BeforeExecute, FlowContext, HookContext, Verdict, hook_handlers};

use crate::body::{Body, Boom};
use crate::points::{
    Amended, AmendedResult, Amending, Guarding, Made, Posted, Staging, Telling, Told,
};

/// What `handlers_of_east` describes.
pub struct East(pub [Body; 4]);

#[hook_handlers(plugin = "east")]
impl East {
    #[hook_handler(Told, priority = 1)]
    fn hears(&self, payload: &u32, cx: &HookContext) -> Result<(), Boom> {
        self.0[0].run_now::<Telling>(payload, Some(cx))
    }

    #[hook_handler(Amended, on_failure = "closed")]
    async fn amends(&self, payload: &u32) -> Result<Option<AmendedResult>, Boom> {
        self.0[1].run::<Amending>(payload, None).await
    }

    #[hook_handler(Posted, guard)]
    async fn judges(&self, payload: &u32, cx: &HookContext) -> Result<Verdict, Boom> {
        self.0[2].run::<Guarding>(payload, Some(cx)).await
    }

    #[hook_handler(BeforeExecute<Made>, after = "west/*")]
    async fn prepares(&self, flow: &mut FlowContext<Made>) -> Result<(), Boom> {
        self.0[3].run::<Staging>(flow, None).await
    }
}
