// Attributes of one's own on points, payloads, results and fields.
use hooks_runtime::{HookPoint, hook_points};

hook_points! {
    /// A comment
    ///
    /// of two paragraphs.
    #[payload(derive(PartialEq, Eq, Hash), must_use = "look at it", non_exhaustive)]
    #[result(derive(PartialEq))]
    #[derive(PartialOrd, Ord)]
    #[allow(missing_docs)]
    #[cfg_attr(all(), doc(alias = "other"))]
    pub modifying Amended {
        /// A number.
        #[allow(dead_code)]
        n: u32,
    } -> {
        /// A text.
        text: String,
    }

    #[doc = "One comment."]
    #[doc = concat!("Another", " comment.")]
    pub void Documented {}
}

fn main() {
    assert!(Amended <= Amended);
    assert_eq!(AmendedPayload { n: 1 }, AmendedPayload { n: 1 });
    assert_eq!(AmendedResult::default(), AmendedResult { text: None });
    assert_eq!(Amended::descriptor().doc(), "A comment\n\nof two paragraphs.");
    assert!(Documented::descriptor().doc().contains("Another comment."));
}
