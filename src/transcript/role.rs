//! The roles of API messages.

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Role {
    User,
    Assistant,
    System,
}

impl Role {
    /// Its name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        }
    }
}
