//! The gate of HTTP: what a guest reaches with which grants, what it never does, and what comes
//! back to it.

mod grants;
mod limits;
mod own;
mod secrets;
mod sockets;
mod tls;
mod wire;
