//! The ready-made points: their wire names, their models, and the JSON of
//! everything they carry, full and with nothing that could be left out.

use std::time::Duration;

use hooks_points::{lifecycle, mcp, *};
use hooks_runtime::model::{Claiming, Flow, Gating, Modifying, Void};
use hooks_runtime::{FailurePolicy, HookPoint};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The wire name of a point, which compiles only if its model is `M`.
fn name<P: HookPoint<Model = M>, M>() -> &'static str {
    P::NAME
}

/// The JSON is read as a `T` and written back as it was. The same with a key
/// misspelt, or given twice, is refused.
#[track_caller]
fn round_trip<T: Serialize + DeserializeOwned>(json: &Value) {
    let text = json.to_string();
    let value: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(&serde_json::to_value(&value).unwrap(), json);

    let inside = &text[1..];
    let comma = if inside == "}" { "" } else { "," };
    refused::<T>(&format!("{{\"misspelt\":1{comma}{inside}"));
    for (key, value) in json.as_object().unwrap() {
        refused::<T>(&format!("{{\"{key}\":{value},{inside}"));
    }
}

/// The text is not a `T`.
#[track_caller]
fn refused<T: DeserializeOwned>(text: &str) {
    assert!(serde_json::from_str::<T>(text).is_err(), "accepted {text}");
}

/// Each line is a type and what it reads and writes.
macro_rules! round_trips {
    ($($test:ident { $($type:ty: [$($json:tt),+ $(,)?];)+ })+) => {
        $(#[test] fn $test() { $($(round_trip::<$type>(&json!($json));)+)+ })+
    };
}

/// Each line is a point and its name.
macro_rules! wire_names {
    ($($test:ident: $model:ty { $($point:ty = $name:literal,)+ })+) => {
        $(#[test] fn $test() { $(assert_eq!(name::<$point, $model>(), $name);)+ })+
    };
}

wire_names! {
    void_points: Void {
        SessionStart = "session_start",
        BeforeLlmCall = "before_llm_call",
        AfterLlmCall = "after_llm_call",
        AfterToolCall = "after_tool_call",
        ToolEndWithPath = "tool_end_with_path",
        AgentDone = "agent_done",
        MessageReceived = "message_received",
        MessageSent = "message_sent",
        SubagentSpawned = "subagent_spawned",
        SubagentEnded = "subagent_ended",
        AfterTicketRevision = "after_ticket_revision",
        ProcessComplete = "process_complete",
        OnBackgroundJobComplete = "on_background_job_complete",
        GoalCompleted = "goal_completed",
        GoalFailed = "goal_failed",
        GoalExhausted = "goal_exhausted",
        GoalNeedsClarification = "goal_needs_clarification",
    }
    modifying_points: Modifying {
        BeforePromptBuild = "before_prompt_build",
        BeforeToolCall = "before_tool_call",
        MessageSending = "message_sending",
        PersonalitySwitched = "personality_switched",
        SubagentSpawning = "subagent_spawning",
    }
    claiming_points: Claiming {
        InboundClaim = "inbound_claim",
        BeforeDispatch = "before_dispatch",
        BeforeTicketComplete = "before_ticket_complete",
        GatewayMessage = "gateway_message",
        BeforeGoalComplete = "before_goal_complete",
    }
    gating_points: Gating {
        lifecycle::BeforeInbound = "before_inbound",
        lifecycle::BeforeToolCall = "before_tool_call",
        lifecycle::BeforeOutbound = "before_outbound",
        lifecycle::OnSessionStart = "on_session_start",
        lifecycle::OnSessionEnd = "on_session_end",
        lifecycle::TransformResponse = "transform_response",
    }
    flow_points: Flow {
        mcp::CallTool = "tools:call-tool",
        mcp::ReadResource = "resources:read-resource",
        mcp::ListResources = "resources:list-resources",
        mcp::GetPrompt = "prompts:get-prompt",
    }
}

round_trips! {
    agent_payloads {
        SessionStartPayload: [
            { "sessionId": "s", "sessionKey": "cli:s", "platform": "cli", "personalityId": "p" },
            { "sessionId": "s", "sessionKey": "cli:s", "platform": "cli" },
        ];
        BeforeLlmCallPayload: [
            {
                "sessionId": "s", "model": "m", "turnNumber": 3, "system": "Be brief.",
                "tools": [{ "name": "ls", "description": "Lists.", "parameters": { "type": "object" } }],
                "messages": [
                    { "role": "user", "content": "hi" },
                    { "role": "assistant", "content": [{ "type": "text", "text": "hello" }] },
                ],
                "requestId": "r",
            },
            { "sessionId": "s", "model": "m", "turnNumber": 3 },
        ];
        AfterLlmCallPayload: [
            {
                "sessionId": "s", "text": "done",
                "usage": {
                    "inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 4,
                    "cacheCreationTokens": 1, "estimatedCostUsd": 0.25,
                },
                "requestId": "r", "finishReason": "max_tokens", "durationMs": 12,
            },
            { "sessionId": "s", "text": "", "usage": { "inputTokens": 9, "outputTokens": 2 } },
        ];
        AfterToolCallPayload: [
            {
                "sessionId": "s", "toolName": "ls", "durationMs": 12,
                "result": { "ok": true, "value": "a", "structured": ["a"], "cost_usd": 0.5 },
            },
            { "sessionId": "s", "toolName": "ls", "durationMs": 12, "result": { "ok": true, "value": "" } },
        ];
        ToolEndWithPathPayload: [
            {
                "sessionId": "s", "personalityId": "p", "toolName": "read",
                "filePath": "a.txt", "workingDir": "/w",
            },
            { "sessionId": "s", "toolName": "read", "filePath": "a.txt", "workingDir": "/w" },
        ];
        AgentDonePayload: [
            {
                "sessionId": "s", "text": "done", "turnCount": 2, "personalityId": "p",
                "successfulToolCalls": 1, "totalToolCalls": 2, "toolNames": ["ls"],
                "initialPrompt": "list",
            },
            { "sessionId": "s", "text": "done", "turnCount": 2 },
        ];
        SubagentSpawnedPayload: [
            { "parentSessionId": "s", "childSessionId": "c", "personalityId": "p" },
            { "parentSessionId": "s", "childSessionId": "c" },
        ];
        SubagentEndedPayload: [{ "parentSessionId": "s", "childSessionId": "c", "result": "ok" }];
        AfterTicketRevisionPayload: [
            {
                "taskId": "t", "summary": "did it", "acceptanceCriteria": "tests", "reason": "none",
                "assignee": "a", "autonomyTier": "probationary", "successRatio": 0.5,
            },
            { "taskId": "t", "summary": "did it", "reason": "none", "assignee": "a" },
        ];
        ProcessCompletePayload: [{
            "processId": "p", "sessionId": "s", "sessionKey": "cli:s", "exitCode": -1,
            "stdout": "out", "stderr": "err", "durationMs": 12,
        }];
        OnBackgroundJobCompletePayload: [
            { "job": {
                "id": "j", "status": "failed", "summary": "half", "error": "oops",
                "origin": { "platform": "slack", "botKey": "b", "chatId": "c", "threadId": "t" },
            } },
            { "job": { "id": "j", "status": "done" } },
            { "job": { "id": "j", "status": "aborted", "origin": {} } },
        ];
        GoalCompletedPayload: [
            {
                "goalId": "g", "title": "T", "summary": "did it", "outputMd": "# T", "origin": "web",
                "personalityId": "p", "costUsd": 0.5, "durationMs": 12,
            },
            {
                "goalId": "g", "title": "T", "summary": "did it", "outputMd": "# T", "origin": "web",
                "personalityId": "p", "durationMs": 12,
            },
        ];
        GoalFailedPayload: [
            {
                "goalId": "g", "title": "T", "errorText": "oops", "outputPartial": "#",
                "origin": "cli", "personalityId": "p",
            },
            { "goalId": "g", "title": "T", "origin": "cli", "personalityId": "p" },
        ];
        GoalExhaustedPayload: [
            {
                "goalId": "g", "title": "T", "bestAttemptOutput": "#", "origin": "cli",
                "personalityId": "p",
                "verdict": { "score": 0.5, "perCriterion": [
                    { "id": "c", "pass": true, "evidence": "ran" },
                    { "id": "r", "score": 0.25, "evidence": "read", "gap": "style" },
                ] },
            },
            { "goalId": "g", "title": "T", "origin": "cli", "personalityId": "p" },
        ];
        GoalNeedsClarificationPayload: [{ "goalId": "g", "reason": "which?" }];
        BeforePromptBuildPayload: [
            { "sessionId": "s", "personalityId": "p", "history": [
                {
                    "id": "1", "sessionId": "s", "role": "tool_result", "content": "a",
                    "toolCallId": "c", "toolName": "ls",
                    "toolCalls": [{ "id": "c", "name": "ls", "input": { "path": "." } }],
                    "timestamp": "2026-01-01T00:00:00.000Z",
                },
                {
                    "id": "2", "sessionId": "s", "role": "user", "content": "hi",
                    "timestamp": "2026-01-01T00:00:01.000Z",
                },
            ] },
            { "sessionId": "s", "history": [] },
        ];
        BeforeToolCallPayload: [
            { "sessionId": "s", "toolCallId": "c", "toolName": "ls", "args": { "path": "." } },
            { "sessionId": "s", "toolCallId": "c", "toolName": "ls", "args": null },
        ];
        PersonalitySwitchedPayload: [
            { "sessionId": "s", "from": "a", "to": "b" },
            { "sessionId": "s", "to": "b" },
        ];
        SubagentSpawningPayload: [
            { "parentSessionId": "s", "prompt": "go", "personalityId": "p" },
            { "parentSessionId": "s", "prompt": "go" },
        ];
        BeforeTicketCompletePayload: [
            {
                "taskId": "t", "summary": "did it", "acceptanceCriteria": "tests",
                "autonomyTier": "trusted",
            },
            { "taskId": "t", "summary": "did it" },
        ];
        BeforeGoalCompletePayload: [
            {
                "goalId": "g", "summary": "did it", "outputMd": "# T",
                "acceptanceCriteria": {
                    "checks": [
                        { "id": "c", "description": "builds", "command": "make" },
                        { "id": "d", "description": "reads well" },
                    ],
                    "rubric": [{ "id": "r", "description": "style", "weight": 0.5 }],
                    "threshold": 0.75,
                },
            },
            { "goalId": "g", "summary": "did it", "outputMd": "# T" },
        ];
    }

    gateway_payloads {
        MessageReceivedPayload: [
            {
                "message": {
                    "platform": "telegram", "chatId": "c", "userId": "u", "username": "user-1",
                    "text": "hi", "replyToId": "m0", "isDm": true, "isGroupMention": false,
                    "messageId": "m1", "threadId": "t", "raw": { "update": 1 },
                    "attachments": [
                        {
                            "type": "image", "ref": "f1", "url": "https://x/1", "mimeType": "image/png",
                            "filename": "a.png", "sizeBytes": 7,
                        },
                        { "type": "audio", "ref": "f2", "url": "https://x/2", "mimeType": "audio/ogg" },
                    ],
                },
                "sessionId": "s",
            },
            { "message": {
                "platform": "cli", "chatId": "c", "text": "hi", "isDm": true,
                "isGroupMention": false, "raw": null,
            } },
        ];
        MessageSentPayload: [{ "chatId": "c", "messageId": "m" }, { "chatId": "c" }];
        MessageSendingPayload: [
            { "chatId": "c", "message": {
                "text": "hi", "replyToId": "m", "parseMode": "html", "threadId": "t",
                "attachments": [
                    { "type": "file", "ref": "f", "url": "https://x/1", "mimeType": "text/plain" },
                ],
            } },
            { "chatId": "c", "message": { "text": "hi" } },
        ];
        InboundClaimPayload: [{ "message": {
            "platform": "cli", "chatId": "c", "text": "hi", "isDm": false,
            "isGroupMention": true, "raw": [1],
        } }];
        BeforeDispatchPayload: [{ "chatId": "c", "platform": "cli", "text": "hi" }];
        GatewayMessagePayload: [
            {
                "platform": "slack", "chatId": "c", "botKey": "b", "userId": "u", "text": "/ping",
                "isDm": false,
            },
            { "platform": "slack", "chatId": "c", "text": "/ping", "isDm": true },
        ];
    }

    results {
        BeforePromptBuildResult: [
            { "prependSystem": "a", "appendSystem": "b", "overrideSystem": "c" },
            {},
        ];
        BeforeToolCallResult: [{ "args": { "path": "/tmp" }, "error": "no" }, {}];
        MessageSendingResult: [{ "message": { "text": "bye" } }, {}];
        PersonalitySwitchedResult: [
            { "personality": {
                "id": "p", "name": "P", "description": "d", "toolset": ["ls"], "model": "m",
                "provider": "v", "platform": "cli", "plugins": ["audit"],
            } },
            { "personality": { "id": "p", "name": "P" } },
            {},
        ];
        SubagentSpawningResult: [{ "prompt": "go", "personalityId": "p" }, {}];
    }

    claims_on_the_wire {
        ClaimWire<Handled>: [{ "handled": true }, { "handled": false }];
        ClaimWire<CompletionRejected>: [
            { "handled": true, "reason": "no tests" },
            { "handled": false },
        ];
        ClaimWire<GatewayReply>: [
            { "handled": true, "reply": "pong" },
            { "handled": true },
            { "handled": false },
        ];
    }

    lifecycle_payloads {
        lifecycle::BeforeInboundPayload: [
            { "user_id": "u", "channel": "cli", "content": "hi", "thread_id": "t" },
            { "user_id": "u", "channel": "cli", "content": "hi" },
        ];
        lifecycle::BeforeToolCallPayload: [
            { "tool_name": "ls", "parameters": { "path": "." }, "user_id": "u", "context": "chat" },
        ];
        lifecycle::BeforeOutboundPayload: [
            { "user_id": "u", "channel": "cli", "content": "hi", "thread_id": "t" },
            { "user_id": "u", "channel": "cli", "content": "hi" },
        ];
        lifecycle::OnSessionStartPayload: [{ "user_id": "u", "session_id": "s" }];
        lifecycle::OnSessionEndPayload: [
            {
                "user_id": "u", "session_id": "s",
                "thread_ids": ["67e55044-10b1-426f-9247-bb680e5fe0c8"],
            },
            { "user_id": "u", "session_id": "s", "thread_ids": [] },
        ];
        lifecycle::TransformResponsePayload: [
            { "user_id": "u", "thread_id": "t", "response": "hi" },
        ];
    }

    mcp_messages {
        mcp::CallToolRequest: [
            { "name": "ls", "arguments": { "path": "." }, "_meta": { "progressToken": 1 } },
            { "name": "ls" },
        ];
        mcp::CallToolResponse: [
            {
                "content": [
                    {
                        "type": "text", "text": "a", "_meta": {},
                        "annotations": {
                            "audience": ["user", "assistant"], "priority": 0.5,
                            "lastModified": "2026-01-01T00:00:00Z",
                        },
                    },
                    { "type": "image", "data": "AA==", "mimeType": "image/png" },
                    { "type": "audio", "data": "AA==", "mimeType": "audio/wav" },
                    { "type": "resource", "resource": {
                        "uri": "file:///a", "mimeType": "text/plain", "text": "a", "_meta": { "k": 1 },
                    } },
                    { "type": "resource", "resource": { "uri": "file:///b", "blob": "AA==" } },
                    { "type": "resource_link", "uri": "file:///c", "name": "c" },
                ],
                "structuredContent": { "names": ["a"] }, "isError": false, "_meta": { "k": 1 },
            },
            { "content": [] },
        ];
        mcp::ReadResourceRequest: [{ "uri": "file:///a", "_meta": {} }, { "uri": "file:///a" }];
        mcp::ReadResourceResponse: [
            { "contents": [{ "uri": "file:///a", "text": "a" }], "_meta": {} },
            { "contents": [] },
        ];
        mcp::ListResourcesRequest: [{ "cursor": "2", "_meta": {} }, {}];
        mcp::ListResourcesResponse: [
            {
                "resources": [
                    {
                        "uri": "file:///a", "name": "a", "title": "A", "description": "d",
                        "mimeType": "text/plain", "size": 7, "annotations": {}, "_meta": {},
                        "icons": [
                            {
                                "src": "https://x/i", "mimeType": "image/png", "sizes": ["48x48"],
                                "theme": "dark",
                            },
                            { "src": "https://x/j" },
                        ],
                    },
                    { "uri": "file:///b", "name": "b" },
                ],
                "nextCursor": "3", "_meta": {},
            },
            { "resources": [] },
        ];
        mcp::GetPromptRequest: [
            { "name": "review", "arguments": { "file": "a" }, "_meta": {} },
            { "name": "review" },
        ];
        mcp::GetPromptResponse: [
            {
                "description": "d", "_meta": {},
                "messages": [
                    { "role": "user", "content": { "type": "text", "text": "hi" } },
                    { "role": "assistant", "content": {
                        "type": "resource", "resource": { "uri": "file:///a", "text": "a" },
                    } },
                ],
            },
            { "messages": [] },
        ];
    }

    tool_results {
        ToolResult: [
            { "ok": true, "value": "a", "structured": { "n": 1 }, "cost_usd": 0.5 },
            { "ok": true, "value": "a" },
            { "ok": false, "code": "input_invalid", "error": "?" },
            { "ok": false, "code": "not_available", "error": "?" },
            { "ok": false, "code": "execution_failed", "error": "?" },
            { "ok": false, "code": "STALE_WRITE", "error": "?" },
        ];
    }
}

#[test]
fn lifecycle_points_have_five_seconds_and_fail_open() {
    fn check<P: HookPoint>() {
        let declared = P::descriptor();
        assert_eq!(declared.time_limit(), Some(Duration::from_secs(5)));
        assert_eq!(declared.policy(), FailurePolicy::Open);
    }

    check::<lifecycle::BeforeInbound>();
    check::<lifecycle::BeforeToolCall>();
    check::<lifecycle::BeforeOutbound>();
    check::<lifecycle::OnSessionStart>();
    check::<lifecycle::OnSessionEnd>();
    check::<lifecycle::TransformResponse>();
}

#[test]
fn null_reads_as_absent() {
    let payload: SessionStartPayload = serde_json::from_str(
        r#"{ "sessionId": "s", "sessionKey": "k", "platform": "cli", "personalityId": null }"#,
    )
    .unwrap();
    assert_eq!(payload.personality_id, None);
}

#[test]
fn thread_ids_default_to_none() {
    let payload: lifecycle::OnSessionEndPayload =
        serde_json::from_str(r#"{ "user_id": "u", "session_id": "s" }"#).unwrap();
    assert!(payload.thread_ids.is_empty());
}

#[test]
fn unknown_keys_are_refused_deep_inside() {
    refused::<MessageSendingPayload>(
        r#"{ "chatId": "c", "message": { "text": "a", "txt": "b" } }"#,
    );
    refused::<mcp::CallToolResponse>(r#"{ "content": [{ "type": "text", "txt": "a" }] }"#);
    refused::<mcp::CallToolResponse>(r#"{ "content": [{ "type": "text", "text": "a", "x": 1 }] }"#);
}

#[test]
fn the_other_case_is_refused() {
    refused::<MessageSentPayload>(r#"{ "chat_id": "c" }"#);
    refused::<lifecycle::OnSessionStartPayload>(r#"{ "userId": "u", "sessionId": "s" }"#);
    refused::<ToolResult>(r#"{ "ok": true, "value": "a", "costUsd": 1 }"#);
    refused::<ToolResult>(r#"{ "ok": false, "code": "stale_write", "error": "?" }"#);
}

#[test]
fn empty_rejections_are_refused() {
    for empty in ["", " ", "\\n\\t", "\\u00a0"] {
        refused::<RejectionReason>(&format!("\"{empty}\""));
        refused::<BeforeToolCallResult>(&format!(r#"{{ "error": "{empty}" }}"#));
        refused::<ClaimWire<CompletionRejected>>(&format!(
            r#"{{ "handled": true, "reason": "{empty}" }}"#
        ));
    }
    assert_eq!(RejectionReason::try_from(" "), Err(EmptyReason));
    assert_eq!(RejectionReason::try_from(String::new()), Err(EmptyReason));
    assert_eq!(RejectionReason::new(" no ").unwrap().as_str(), " no ");
}

#[test]
fn garbled_claims_are_refused() {
    for text in [
        "{}",
        r#"{ "handled": 1 }"#,
        r#"{ "reason": "no" }"#,
        r#"{ "handled": true }"#,
        r#"{ "handled": true, "reason": null }"#,
        r#"{ "handled": false, "reason": "no" }"#,
        r#"{ "handled": true, "handled": false, "reason": "no" }"#,
        r#"{ "handled": true, "reason": "no", "reply": "yes" }"#,
        "[true]",
        "null",
    ] {
        refused::<ClaimWire<CompletionRejected>>(text);
    }
}

#[test]
fn contradictory_tool_results_are_refused() {
    for text in [
        r#"{ "value": "a" }"#,
        r#"{ "ok": true }"#,
        r#"{ "ok": true, "value": "a", "error": "?" }"#,
        r#"{ "ok": true, "value": "a", "code": "not_available" }"#,
        r#"{ "ok": false, "error": "?" }"#,
        r#"{ "ok": false, "code": "not_available" }"#,
        r#"{ "ok": false, "code": "not_available", "error": "?", "value": "a" }"#,
        r#"{ "ok": false, "code": "not_available", "error": "?", "cost_usd": 1 }"#,
        r#"{ "ok": false, "code": "not_available", "error": "?", "structured": 1 }"#,
    ] {
        refused::<ToolResult>(text);
    }
}

#[test]
fn resource_contents_are_text_or_blob() {
    refused::<mcp::ResourceContents>(r#"{ "uri": "file:///a" }"#);
    refused::<mcp::ResourceContents>(r#"{ "uri": "file:///a", "text": "a", "blob": "AA==" }"#);
}

#[test]
fn parameters_that_are_not_json_are_an_error() {
    let call: lifecycle::BeforeToolCallPayload = serde_json::from_value(
        json!({ "tool_name": "ls", "parameters": {}, "user_id": "u", "context": "chat" }),
    )
    .unwrap();
    let error = call.with_parameters_text("rm -rf").unwrap_err();
    assert_eq!(error.tool_name, "ls");
    let replaced = call.with_parameters_text(r#"{ "path": "/" }"#).unwrap();
    assert_eq!(replaced, call.with_parameters(json!({ "path": "/" })));
}
