//! Session stores on databases.
