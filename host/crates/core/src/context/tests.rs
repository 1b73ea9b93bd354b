//! What frames read, as whole messages.
