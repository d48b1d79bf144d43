// Merges a result that cannot go to another thread.
use std::rc::Rc;

use hooks_runtime::Merge;
use hooks_runtime::model::FieldSet;

#[derive(Default)]
struct Amendment {
    tags: Rc<str>,
}

impl Merge for Amendment {
    const FIELDS: &'static [&'static str] = &["tags"];

    fn merge(&mut self, _: Self) -> FieldSet {
        FieldSet::new()
    }

    fn filled(&self) -> FieldSet {
        FieldSet::new()
    }
}

fn main() {}
