//! Tool calls.

use serde_json::Value;

hooks_runtime::hook_points! {
    #![hook(json = "snake_case", catalogue = pub(super) fn points, timeout = "5s", on_failure = "open")]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires before a tool call is executed.
    #[payload(derive(PartialEq, Eq))]
    pub gating BeforeToolCall {
        /// The tool.
        tool_name: String,
        /// The arguments.
        parameters: Value,
        /// On whose behalf it is called.
        user_id: String,
        /// `chat` in a conversation, else the id of the job that calls it.
        context: String,
    }
}

/// Text that was to replace a tool's parameters is not JSON.
#[derive(Debug, thiserror::Error)]
#[error("the new parameters of `{}` are not JSON", hooks_runtime::report::escaped(.tool_name))]
pub struct InvalidParameters {
    /// The tool.
    pub tool_name: String,
    /// What is wrong with the text.
    #[source]
    pub error: serde_json::Error,
}

impl BeforeToolCallPayload {
    /// The same call with other parameters.
    #[must_use]
    pub fn with_parameters(&self, parameters: Value) -> Self {
        Self {
            tool_name: self.tool_name.clone(),
            parameters,
            user_id: self.user_id.clone(),
            context: self.context.clone(),
        }
    }

    /// The same call with parameters read from text.
    ///
    /// Text that is not JSON is an error, for the handler to return: the call
    /// with its old parameters is not what the handler asked for, so it must
    /// not go ahead as if the handler had had nothing to say.
    ///
    /// ```
    /// use hooks_points::lifecycle::BeforeToolCallPayload;
    /// use serde_json::json;
    ///
    /// let call = BeforeToolCallPayload {
    ///     tool_name: "read_file".into(),
    ///     parameters: json!({ "path": "/etc/passwd" }),
    ///     user_id: "user-1".into(),
    ///     context: "chat".into(),
    /// };
    /// let jailed = call.with_parameters_text(r#"{ "path": "/srv/user-1/passwd" }"#)?;
    /// assert_eq!(jailed.parameters["path"], "/srv/user-1/passwd");
    /// assert!(call.with_parameters_text("/srv/user-1/passwd").is_err());
    /// # Ok::<(), hooks_points::lifecycle::InvalidParameters>(())
    /// ```
    pub fn with_parameters_text(&self, text: &str) -> Result<Self, InvalidParameters> {
        match serde_json::from_str(text) {
            Ok(parameters) => Ok(self.with_parameters(parameters)),
            Err(error) => Err(InvalidParameters { tool_name: self.tool_name.clone(), error }),
        }
    }
}
