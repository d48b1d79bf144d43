//! A crate that depends on neither serde nor schemars, under another name and
//! through a crate that hands the runtime on.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused_qualifications, unreachable_pub, clippy::pedantic)]

use hooks::{hook_points, HookRegistry};

hook_points! {
    #![hook(json = "camelCase", schema, catalogue = pub fn drawers)]

    /// A drawer was opened.
    pub void Opened { drawer_number: u32, label: Option<String> }
    /// Before a label is printed.
    pub modifying Labelling { label_text: String } -> { big_title: String }
    /// Who takes this message?
    pub claiming Route(String) -> u32;
    /// One order, stage by stage.
    pub flow PlaceOrder { order_number: u32 } -> u32;
}

// A second block in the same module.
hook_points! {
    #![hook(json = "snake_case", schema)]

    /// A drawer was closed.
    pub void Closed { drawer_number: u32 }
}

mod inner {
    #[allow(unused_imports, reason = "what the outer blocks import must not clash")]
    use super::*;

    // Through a crate that hands the runtime on, and with the name of another point.
    hooks_ui_facade::hooks::hook_points! {
        #![hook(json = "kebab-case", catalogue = pub(super) fn drawers)]
        #![cfg_attr(all(), hook(schema))]

        /// A drawer was opened, again.
        pub(super) void Opened { drawer_number: u32 }
    }

    #[allow(dead_code, reason = "it compiles, which is all")]
    mod without_a_schema {
        hooks_ui_facade::hooks::hook_points! {
            #![hook(json = "kebab-case")]
            #![cfg_attr(any(), hook(schema))]

            /// A drawer was locked.
            pub(super) void Locked { drawer_number: u32 }
        }
    }
}

#[tokio::test]
async fn l27_json_needs_no_dependency_of_the_users_crate() {
    let (registry, catalogue) = (HookRegistry::new(), drawers());
    registry
        .register(hooks::on::<Labelling>().handler(|label: &LabellingPayload| LabellingResult {
            big_title: Some(label.label_text.to_uppercase()),
        }))
        .unwrap();
    let json = registry.json(&catalogue);
    let labelled = json.fire("labelling", r#"{"labelText": "lamps"}"#).await.unwrap();
    assert_eq!(labelled.to_json().to_string(), r#"{"bigTitle":"LAMPS"}"#);
    let error = json.fire("opened", r#"{"drawer": 3}"#).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the payload of `opened` does not fit at `drawer`: unknown field `drawer`, expected \
         `drawerNumber` or `label` at line 1 column 9"
    );
}

#[tokio::test]
async fn l27_json_is_derived_inside_of_a_function() {
    hook_points! {
        #![hook(json = "camelCase", schema, catalogue = fn points)]

        /// A lamp was lit.
        void Lit { lamp_number: u32 }
    }
    {
        hook_points! {
            #![hook(json = "snake_case", catalogue = fn points)]

            /// A lamp was lit, in a block of the function.
            void Lit { lamp_number: u32 }
        }
        let registry = HookRegistry::new();
        let fired = registry.json(&points()).fire("lit", r#"{"lamp_number": 1}"#).await.unwrap();
        assert_eq!(fired.to_json().to_string(), "null");
    }
    let registry = HookRegistry::new();
    let fired = registry.json(&points()).fire("lit", r#"{"lampNumber": 1}"#).await.unwrap();
    assert_eq!(fired.to_json().to_string(), "null");
}

#[test]
fn l28_schemas_need_no_dependency_of_the_users_crate() {
    let schema = |catalogue: hooks::catalogue::Catalogue, name: &str| {
        let point = catalogue.points().iter().find(|point| point.name() == name).unwrap();
        point.payload().schema().unwrap()["properties"]["drawerNumber"]["type"].to_string()
    };
    assert_eq!(schema(drawers(), "opened"), r#""integer""#);
    let inner = inner::drawers();
    let payload = inner.points()[0].payload().schema().unwrap();
    assert_eq!(payload["required"].to_string(), r#"["drawer-number"]"#);
}
