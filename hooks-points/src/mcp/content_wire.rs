//! Reading a block of content.
//!
//! serde's own way keeps the block aside until it knows the type, and judges it
//! by laxer rules then: arrays pass for objects, and errors no longer say where.
//! So all forms are read at once, and what does not belong together is refused.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{
    Annotations, ContentBlock, EmbeddedResource, Icon, MediaContent, Meta, Resource,
    ResourceContents, TextContent,
};

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let kind = wire.kind;
        wire.block().ok_or_else(|| D::Error::custom(kind.expected()))
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    Image,
    Audio,
    Resource,
    ResourceLink,
}

impl Kind {
    fn expected(self) -> &'static str {
        match self {
            Self::Text => "a block of `text` needs `text`",
            Self::Image | Self::Audio => "a block of `image` or `audio` needs `data`, `mimeType`",
            Self::Resource => "a block of `resource` needs `resource`",
            Self::ResourceLink => {
                "a block of `resource_link` needs `uri`, `name`, and may have `title`, \
                 `description`, `mimeType`, `size`, `icons`"
            }
        }
    }
}

/// All forms at once, as the wire could spell them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wire {
    #[serde(rename = "type")]
    kind: Kind,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
    resource: Option<ResourceContents>,
    uri: Option<String>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    size: Option<u64>,
    icons: Option<Vec<Icon>>,
    annotations: Option<Annotations>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

impl Wire {
    /// The block, if everything is there that its kind needs, and nothing else.
    fn block(mut self) -> Option<ContentBlock> {
        let (annotations, meta) = (self.annotations.take(), self.meta.take());
        let block = match self.kind {
            Kind::Text => {
                ContentBlock::Text(TextContent { text: self.text.take()?, annotations, meta })
            }
            Kind::Image | Kind::Audio => {
                let (data, mime_type) = (self.data.take()?, self.mime_type.take()?);
                let media = MediaContent { data, mime_type, annotations, meta };
                match self.kind {
                    Kind::Image => ContentBlock::Image(media),
                    _ => ContentBlock::Audio(media),
                }
            }
            Kind::Resource => ContentBlock::Resource(EmbeddedResource {
                resource: self.resource.take()?,
                annotations,
                meta,
            }),
            Kind::ResourceLink => ContentBlock::ResourceLink(Resource {
                uri: self.uri.take()?,
                name: self.name.take()?,
                title: self.title.take(),
                description: self.description.take(),
                mime_type: self.mime_type.take(),
                size: self.size.take(),
                icons: self.icons.take(),
                annotations,
                meta,
            }),
        };
        self.is_used_up().then_some(block)
    }

    fn is_used_up(&self) -> bool {
        let Self { text, data, mime_type, resource, uri, name, title, description, .. } = self;
        let texts = [text, data, mime_type, uri, name, title, description];
        texts.into_iter().all(Option::is_none)
            && resource.is_none()
            && self.size.is_none()
            && self.icons.is_none()
    }
}
