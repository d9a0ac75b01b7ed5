//! Makes a whole conversation safe to share, for the formats that show it as other commands do.

use crate::view::{CallItem, Conversation, ItemContent, MediaItem, SessionJson, SessionText};

use super::redactor::Redactor;

impl Redactor {
    /// Masks secrets and replaces private names in all text of a conversation.
    pub fn conversation(&self, conversation: &mut Conversation) {
        self.change(&mut conversation.title);
        if let Some(project) = &mut conversation.project {
            self.change(project);
        }
        let contents = conversation.turn_contents.iter_mut();
        for item in contents.flat_map(|content| &mut content.items) {
            self.item(&mut item.content);
        }
    }

    fn change(&self, text: &mut SessionText) {
        *text = self.text(text).into();
    }

    fn item(&self, content: &mut ItemContent) {
        match content {
            ItemContent::Prompt { text }
            | ItemContent::Answer { text }
            | ItemContent::Thinking { text }
            | ItemContent::Summary { text }
            | ItemContent::Result { text, .. }
            | ItemContent::Note { text, .. } => self.change(text),
            ItemContent::Call(call) => self.call(call),
            ItemContent::Image(MediaItem { title, .. })
            | ItemContent::Document(MediaItem { title, .. }) => self.change(title),
            ItemContent::Compaction { .. } => {}
        }
    }

    fn call(&self, call: &mut CallItem) {
        self.change(&mut call.gist);
        call.input = SessionJson::from(self.json(&call.input));
        for edit in &mut call.edits {
            self.change(&mut edit.path);
            self.change(&mut edit.old);
            self.change(&mut edit.new);
        }
    }
}
