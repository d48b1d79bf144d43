//! Colour, where it is wanted.

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// Nothing special.
    Plain,
    /// Less important.
    Dim,
    /// A heading.
    Strong,
    /// A person's words.
    Person,
    /// The agent's words.
    Agent,
    /// A void point.
    Void,
    /// A modifying point.
    Modifying,
    /// A claiming point.
    Claiming,
    /// A gating point.
    Gating,
    /// A flow.
    Flow,
    /// Something was changed.
    Good,
    /// Something was refused, or failed.
    Bad,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Dim => "2",
            Self::Strong => "1",
            Self::Person => "1;36",
            Self::Agent => "1;32",
            Self::Void => "34",
            Self::Modifying => "33",
            Self::Claiming => "35",
            Self::Gating => "36",
            Self::Flow => "95",
            Self::Good => "32",
            Self::Bad => "31",
        }
    }

    /// The text in this tone, if there is colour.
    pub(super) fn paint(self, text: &str, colour: bool) -> String {
        if colour && self != Self::Plain && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", self.code())
        } else {
            text.to_owned()
        }
    }
}
