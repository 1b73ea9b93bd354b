//! Which nodes a frame reads, and how they look to a model.
