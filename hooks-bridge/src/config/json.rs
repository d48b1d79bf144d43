//! JSON with lines. `serde_json` knows where a mistake is, but not where a value is.

use super::node::{Data, Malformed, Member, Node};

/// The deepest nesting that is read.
const DEEPEST: usize = 64;

/// Reads a document. Comments are an error unless they are allowed.
pub(crate) fn parse(text: &str, comments: bool) -> Result<Node, Malformed> {
    let mut parser = Parser { text, at: 0, line: 1, comments };
    let node = parser.value(0)?;
    parser.space()?;
    if parser.at < text.len() {
        return Err(parser.error("there is more after the end of the document"));
    }
    Ok(node)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    comments: bool,
}

impl Parser<'_> {
    fn error(&self, what: impl Into<String>) -> Malformed {
        Malformed { line: self.line, what: what.into() }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self, bytes: usize) {
        self.line += self.text[self.at..self.at + bytes].matches('\n').count();
        self.at += bytes;
    }

    /// Skips white space, and comments.
    fn space(&mut self) -> Result<(), Malformed> {
        loop {
            let blank =
                self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.advance(blank);
            let comment = match self.rest() {
                rest if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                rest if rest.starts_with("/*") => match rest[2..].find("*/") {
                    Some(end) => end + 4,
                    None => return Err(self.error("a comment is not closed")),
                },
                _ => return Ok(()),
            };
            if !self.comments {
                return Err(self.error("comments are not allowed here: remove it"));
            }
            self.advance(comment);
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Malformed> {
        self.space()?;
        if depth > DEEPEST {
            return Err(self.error("it is nested too deeply"));
        }
        let line = self.line;
        let data = match self.peek() {
            Some('{') => self.table(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Data::Text(self.string()?),
            Some(_) => self.scalar()?,
            None => return Err(self.error("the file ends where a value is expected")),
        };
        Ok(Node { line, data })
    }

    fn table(&mut self, depth: usize) -> Result<Data, Malformed> {
        let mut members = Vec::new();
        self.advance(1);
        loop {
            self.space()?;
            match self.peek() {
                Some('}') if members.is_empty() => break,
                Some('"') => {}
                Some('}') => return Err(self.error("there is a comma before `}`: remove it")),
                _ => return Err(self.error("a key in double quotes is expected")),
            }
            let (line, key) = (self.line, self.string()?);
            self.space()?;
            if self.peek() != Some(':') {
                return Err(self.error(format!("`:` is expected after the key `{key}`")));
            }
            self.advance(1);
            let value = self.value(depth + 1)?;
            members.push(Member { key, line, value });
            if !self.goes_on('}')? {
                break;
            }
        }
        self.advance(1);
        Ok(Data::Table(members))
    }

    fn list(&mut self, depth: usize) -> Result<Data, Malformed> {
        let mut items = Vec::new();
        self.advance(1);
        loop {
            self.space()?;
            match self.peek() {
                Some(']') if items.is_empty() => break,
                Some(']') => return Err(self.error("there is a comma before `]`: remove it")),
                _ => items.push(self.value(depth + 1)?),
            }
            if !self.goes_on(']')? {
                break;
            }
        }
        self.advance(1);
        Ok(Data::List(items))
    }

    /// After a comma there is more; at the closing mark there is not.
    fn goes_on(&mut self, closing: char) -> Result<bool, Malformed> {
        self.space()?;
        match self.peek() {
            Some(',') => {
                self.advance(1);
                Ok(true)
            }
            Some(mark) if mark == closing => Ok(false),
            _ => Err(self.error(format!("`,` or `{closing}` is expected"))),
        }
    }

    /// The quoted text, whose escapes `serde_json` knows.
    fn string(&mut self) -> Result<String, Malformed> {
        let bytes = self.rest().as_bytes();
        let mut end = 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(self.error("a text is not closed")),
            }
        }
        let quoted = self.rest().get(..=end).ok_or_else(|| self.error("a text is not closed"))?;
        let text = serde_json::from_str(quoted).map_err(|error| {
            let what = error.to_string();
            let what = what.split(" at line").next().unwrap_or_default();
            self.error(format!("a text is not valid: {what}"))
        })?;
        self.advance(end + 1);
        Ok(text)
    }

    fn scalar(&mut self) -> Result<Data, Malformed> {
        let length = self.rest().find([',', '}', ']', ' ', '\t', '\r', '\n', '/']);
        let word = &self.rest()[..length.unwrap_or(self.rest().len())];
        let data = match word {
            "null" => Data::Null,
            "true" => Data::Bool(true),
            "false" => Data::Bool(false),
            _ => {
                let number = serde_json::from_str(word).map_err(|_| {
                    let shown: String = word.chars().take(20).collect();
                    self.error(format!("a value is expected, not `{shown}`"))
                });
                Data::Number(number?)
            }
        };
        self.advance(word.len());
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (usize, String) {
        let Malformed { line, what } = parse(text, false).unwrap_err();
        (line, what)
    }

    #[test]
    fn values_know_their_lines() {
        let node =
            parse("{\n \"a\": [1,\n  {\"b\": \"x\\n\\u0041\"}],\n\"c\": null}", false).unwrap();
        let list = node.get("a").unwrap();
        assert_eq!(list.line, 2);
        assert_eq!(list.list().unwrap()[1].line, 3);
        assert_eq!(list.list().unwrap()[1].get("b").unwrap().text(), Some("x\nA"));
        assert_eq!(node.table().unwrap()[1].line, 4);
    }

    #[test]
    fn mistakes_say_where_and_what() {
        assert_eq!(error("{\n// why\n}"), (2, "comments are not allowed here: remove it".into()));
        assert_eq!(error("{\"a\": 1,\n}"), (2, "there is a comma before `}`: remove it".into()));
        assert_eq!(error("[1,]"), (1, "there is a comma before `]`: remove it".into()));
        assert_eq!(error("{a: 1}"), (1, "a key in double quotes is expected".into()));
        assert_eq!(error("{\"a\" 1}"), (1, "`:` is expected after the key `a`".into()));
        assert_eq!(error("[1 2]"), (1, "`,` or `]` is expected".into()));
        assert_eq!(error("\n\n"), (3, "the file ends where a value is expected".into()));
        assert_eq!(error("{} {}"), (1, "there is more after the end of the document".into()));
        assert_eq!(error("[yes]"), (1, "a value is expected, not `yes`".into()));
        assert_eq!(error("\"a"), (1, "a text is not closed".into()));
        assert_eq!(error("\"\\"), (1, "a text is not closed".into()));
        assert!(error("\"\\q\"").1.starts_with("a text is not valid"));
        assert_eq!(error(&"[".repeat(1000)), (1, "it is nested too deeply".into()));
    }

    #[test]
    fn comments_where_they_are_allowed() {
        let node = parse("// one\n{ /* two\n */ \"a\": 1 // three\n}", true).unwrap();
        assert_eq!(node.get("a").unwrap().line, 3);
        assert_eq!(parse("/* x", true).unwrap_err().what, "a comment is not closed");
    }
}
