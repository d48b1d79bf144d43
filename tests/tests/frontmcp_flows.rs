//! The flows of the Model Context Protocol, from JSON to JSON.

use std::sync::{Arc, Mutex};

use hooks_points::mcp::*;
use hooks_runtime::flow::FlowPoint;
use hooks_runtime::{
    AfterExecute, BeforeExecute, BeforeValidation, FlowContext, FlowError, HookPoint, HookRegistry,
    OnError, hook_handler, hook_handlers, on,
};
use serde_json::{Value, json};

/// Each line is a flow, a request as a client sends it, and the response that
/// it is to get.
macro_rules! flows {
    ($($flow:ident($name:literal): $request:tt => $response:tt;)+) => {
        /// Handlers see the protocol's shapes as types; what goes out is what
        /// the operation answered, spelled as the protocol spells it.
        #[tokio::test]
        async fn l11_every_flow_takes_and_gives_the_protocols_json() {
            $({
                let hooks = HookRegistry::new();
                let seen = Arc::new(Mutex::new(Vec::<Value>::new()));
                let (before, after) = (Arc::clone(&seen), Arc::clone(&seen));
                hooks
                    .register([
                        on::<BeforeExecute<$flow>>().handler(move |flow: &mut FlowContext<$flow>| {
                            let input = serde_json::to_value(flow.input().unwrap()).unwrap();
                            before.lock().unwrap().push(input);
                        }),
                        on::<AfterExecute<$flow>>().handler(move |flow: &mut FlowContext<$flow>| {
                            let output = serde_json::to_value(flow.output().unwrap()).unwrap();
                            after.lock().unwrap().push(output);
                        }),
                    ])
                    .unwrap();
                let (request, response) = (json!($request), json!($response));
                let input = serde_json::from_value(request.clone()).unwrap();
                let answer = response.clone();
                let output = hooks
                    .run_flow::<$flow, _>(input, async move |_| serde_json::from_value(answer))
                    .await
                    .unwrap();
                assert_eq!(serde_json::to_value(output).unwrap(), response, "{}", $name);
                assert_eq!(*seen.lock().unwrap(), [request, response], "{}", $name);
            })+
        }

        #[test]
        fn l28_the_flows_and_their_stages_have_the_names_of_the_document() {
            $(
                assert_eq!($flow::NAME, $name);
                assert_eq!(
                    $flow::STAGE_NAMES,
                    [
                        concat!($name, "/beforeValidation"),
                        concat!($name, "/afterValidation"),
                        concat!($name, "/beforeExecute"),
                        concat!($name, "/afterExecute"),
                        concat!($name, "/onError"),
                        concat!($name, "/finally"),
                    ],
                );
            )+
        }
    };
}

flows! {
    CallTool("tools:call-tool"):
        { "name": "search", "arguments": { "query": "rust", "limit": 3 } } =>
        {
            "content": [{ "type": "text", "text": "3 hits" }],
            "structuredContent": { "hits": 3 },
            "isError": false,
        };
    ReadResource("resources:read-resource"):
        { "uri": "file:///notes.md" } =>
        {
            "contents": [
                { "uri": "file:///notes.md", "mimeType": "text/markdown", "text": "# Notes" },
                { "uri": "file:///dot.png", "blob": "iVBORw0KGgo=" },
            ],
        };
    ListResources("resources:list-resources"):
        { "cursor": "page-2" } =>
        { "resources": [{ "uri": "file:///notes.md", "name": "notes" }], "nextCursor": "page-3" };
    GetPrompt("prompts:get-prompt"):
        { "name": "greet", "arguments": { "who": "reader" } } =>
        {
            "description": "A greeting",
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Hello, reader" } }],
        };
}

/// The tools and the plugin of the document's examples.
struct SearchTool;

#[derive(Debug)]
struct UnknownTool(String);

impl std::fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown tool `{}`", self.0)
    }
}

impl std::error::Error for UnknownTool {}

#[derive(Default)]
struct Audit {
    log: Mutex<Vec<String>>,
}

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(BeforeExecute<CallTool>, target = SearchTool)]
    async fn cached(&self, flow: &mut FlowContext<CallTool>) {
        if flow.input().is_some_and(|call| call.arguments.is_none()) {
            flow.respond(CallToolResponse::text("from the cache"));
        }
    }

    #[hook_handler(AfterExecute<CallTool>)]
    async fn answered(&self, flow: &mut FlowContext<CallTool>) {
        let output = serde_json::to_string(&flow.output().unwrap().content).unwrap();
        self.log.lock().unwrap().push(output);
    }

    #[hook_handler(OnError<CallTool>)]
    fn failed(&self, flow: &mut FlowContext<CallTool>) {
        let unknown = flow.operation_error::<UnknownTool>().map(|UnknownTool(name)| name);
        self.log.lock().unwrap().push(format!("failed: {unknown:?}"));
    }
}

#[hook_handler(BeforeValidation<CallTool>)]
fn aliases(flow: &mut FlowContext<CallTool>) {
    if let Some(call) = flow.input_mut()
        && call.name == "find"
    {
        call.name = "search".into();
    }
}

#[tokio::test]
async fn l11_a_tool_server_with_an_alias_a_cache_and_an_audit() {
    let hooks = HookRegistry::new();
    hooks.register(hooks_runtime::handlers![aliases]).unwrap();
    let audit = Arc::new(Audit::default());
    hooks.install(Arc::clone(&audit)).unwrap();

    let serve = async |request: Value| {
        let request: CallToolRequest = serde_json::from_value(request).unwrap();
        let mut run = hooks.flow::<CallTool>().target_named(request.name.clone()).validate(
            |call: &CallToolRequest| match &*call.name {
                "" => Err("a tool has a name"),
                _ => Ok(()),
            },
        );
        if matches!(&*request.name, "search" | "find") {
            run = run.target::<SearchTool>();
        }
        run.run(request, async |call: CallToolRequest| match &*call.name {
            "search" => Ok(CallToolResponse::text(format!("{:?}", call.arguments.unwrap()["q"]))),
            _ => Err(UnknownTool(call.name)),
        })
        .await
    };

    let found = serve(json!({ "name": "find", "arguments": { "q": 1 } })).await.unwrap();
    assert_eq!(found, CallToolResponse::text("Number(1)"));
    let cached = serve(json!({ "name": "search" })).await.unwrap();
    assert_eq!(cached, CallToolResponse::text("from the cache"));
    let unknown = serve(json!({ "name": "fly" })).await.unwrap_err();
    assert!(matches!(unknown, FlowError::Operation(_)));
    assert_eq!(unknown.downcast_ref().map(|UnknownTool(name)| &**name), Some("fly"));
    let nameless = serve(json!({ "name": "" })).await.unwrap_err();
    assert_eq!(
        nameless.to_string(),
        "the input of `tools:call-tool` is not valid: a tool has a name"
    );

    assert_eq!(
        *audit.log.lock().unwrap(),
        [
            r#"[{"type":"text","text":"Number(1)"}]"#,
            r#"[{"type":"text","text":"from the cache"}]"#,
            r#"failed: Some("fly")"#,
            "failed: None",
        ]
    );
}
