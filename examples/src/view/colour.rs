//! Text in tones, and colour where it is wanted.

use std::fmt::Write;

use hooks_runtime::point::ModelKind;
use textwrap::core::display_width;

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// Nothing special.
    Plain,
    /// Less important.
    Dim,
    /// A heading, or the name of a point.
    Strong,
    /// A person's words.
    Person,
    /// The agent's words.
    Agent,
    /// A void point.
    Void,
    /// A modifying point.
    Modifying,
    /// A claiming point, and what was claimed or answered.
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

/// A line: pieces in their tones.
pub(super) type Line = Vec<(Tone, String)>;

impl Tone {
    /// The tone of a model.
    pub(super) fn of(model: ModelKind) -> Self {
        match model {
            ModelKind::Modifying => Self::Modifying,
            ModelKind::Claiming => Self::Claiming,
            ModelKind::Gating => Self::Gating,
            ModelKind::Flow => Self::Flow,
            _ => Self::Void,
        }
    }

    /// The number of the colour for a terminal.
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Dim => "2",
            Self::Strong => "1",
            Self::Person => "1;36",
            Self::Agent => "1;32",
            Self::Void => "94",
            Self::Modifying => "33",
            Self::Claiming => "35",
            Self::Gating => "36",
            Self::Flow => "95",
            Self::Good => "32",
            Self::Bad => "31",
        }
    }
}

/// How many letters a line has.
pub(super) fn line_width(line: &Line) -> usize {
    line.iter().map(|(_, text)| display_width(text)).sum()
}

/// The lines as text, each with its end, in their tones if there is colour.
pub(super) fn paint(lines: &[Line], colour: bool) -> String {
    let mut painted = String::new();
    for line in lines {
        for (tone, text) in line {
            if colour && *tone != Tone::Plain && !text.trim().is_empty() {
                // Writing to a `String` cannot fail.
                let _ = write!(painted, "\x1b[{}m{text}\x1b[0m", tone.code());
            } else {
                painted += text;
            }
        }
        painted.push('\n');
    }
    painted
}
