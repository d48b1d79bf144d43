//! What the runtime's files need of the rest of the runtime, reduced to what
//! compiles. None of it takes a step.

/// No waker panics here, and no drop but one that fails the model.
pub(crate) mod observe {
    pub(crate) mod log {
        pub(crate) fn waker_panicked(message: &str) {
            unreachable!("{message}");
        }
    }
}

/// What panics in a model is for the checker to catch.
pub(crate) mod containment {
    pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
        Ok(work())
    }

    pub(crate) fn drop_contained<T>(_: &str, value: T) {
        drop(value);
    }
}

pub(crate) mod frame {
    pub(crate) struct Frame;
}

/// A call of a handler, which has neither input nor answer.
pub(crate) mod call {
    use std::marker::PhantomData;

    use super::frame::Frame;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum CallStep {
        Continue,
        Pending,
        Special,
    }

    pub(crate) struct Call<'f, 's, P>(PhantomData<(&'f mut Frame, &'s (), P)>);

    impl<'f, P> Call<'f, '_, P> {
        pub(crate) fn new(_: &'f mut Frame) -> Self {
            Self(PhantomData)
        }
    }
}

/// No handler has a condition.
pub(crate) mod condition {
    use std::any::TypeId;

    use super::frame::Frame;

    pub(crate) enum ErasedCondition {}

    #[derive(Clone, Copy, Debug)]
    pub(crate) enum ConditionPointer {}

    impl ErasedCondition {
        pub(crate) fn pointer(&self) -> ConditionPointer {
            match *self {}
        }

        pub(crate) fn point(&self) -> TypeId {
            match *self {}
        }
    }

    impl ConditionPointer {
        /// # Safety
        /// None is needed.
        #[allow(unsafe_code)]
        pub(crate) unsafe fn is_met(self, _: &mut Frame) -> bool {
            match self {}
        }
    }
}

/// A point, and two stages of a flow.
pub(crate) mod point {
    #[derive(Debug)]
    pub(crate) struct PointDescriptor {
        is_stage: bool,
        ends_run: bool,
    }

    impl PointDescriptor {
        pub(crate) fn stage(&self) -> Option<()> {
            self.is_stage.then_some(())
        }

        pub(crate) fn ends_run(&self) -> bool {
            self.ends_run
        }
    }

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct FailurePolicy;

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct SourceLocation;

    pub(crate) trait HookPoint: 'static {}

    pub(crate) static POINT: PointDescriptor = PointDescriptor { is_stage: false, ends_run: false };
    pub(crate) static FIRST_STAGE: PointDescriptor =
        PointDescriptor { is_stage: true, ends_run: false };
    pub(crate) static LAST_STAGE: PointDescriptor =
        PointDescriptor { is_stage: true, ends_run: true };
}

/// No handler has a target.
pub(crate) mod handler {
    pub(crate) mod target {
        pub(crate) struct Target;
    }
}

/// One plugin.
pub(crate) mod plugin {
    pub(crate) use crate::tracker;

    pub(crate) mod id {
        use std::fmt;

        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct PluginId;

        impl PluginId {
            pub(crate) fn as_str(&self) -> &str {
                "audit"
            }
        }

        impl fmt::Display for PluginId {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("audit")
            }
        }
    }

    pub(crate) mod record {
        use super::id::PluginId;

        pub(crate) struct PluginRecord;

        impl PluginRecord {
            pub(crate) fn id(&self) -> &PluginId {
                &PluginId
            }

            pub(crate) fn generation(&self) -> u64 {
                0
            }

            pub(crate) fn bit(&self) -> u32 {
                1
            }
        }
    }

    pub(crate) mod scope {
        #[derive(Debug, Default)]
        pub(crate) struct OwnerSet;

        impl OwnerSet {
            pub(crate) fn extend(&mut self, _: &Self) {}
        }

        impl FromIterator<u32> for OwnerSet {
            fn from_iter<I: IntoIterator<Item = u32>>(_: I) -> Self {
                Self
            }
        }
    }
}

/// Calls are not counted.
pub(crate) mod operator {
    pub(crate) mod rules {
        #[derive(Debug)]
        pub(crate) struct PointRules;
    }
}

pub(crate) mod registry {
    pub(crate) use crate::{entry, shards};

    pub(crate) mod handler_counters {
        #[derive(Debug, Default)]
        pub(crate) struct HandlerCounters;

        impl HandlerCounters {
            pub(crate) fn add_calls(&self, _: u64) {}
        }
    }

    pub(crate) mod counters {
        #[derive(Debug)]
        pub(crate) struct CallCounter;

        impl CallCounter {
            pub(crate) fn new(_: usize) -> Self {
                Self
            }

            pub(crate) fn count_whole(&self, _: usize, _: usize) {}

            pub(crate) fn count(&self, _: usize, _: usize) {}

            pub(crate) fn uncount(&self, _: usize, _: usize) {}

            pub(crate) fn ended_at(&self, _: usize, _: usize) -> u64 {
                0
            }
        }
    }
}

/// The engine's names for what is included elsewhere.
pub(crate) mod engine {
    pub(crate) use super::containment;

    pub(crate) mod raw {
        pub(crate) use crate::handler_cell::{HandlerCell, HandlerRef};
        pub(crate) use crate::threads::{Published, Step};

        /// A child of a ready set.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct NodeId(pub(crate) usize);
    }
}
