//! Turns that go on beside the function that started them.
//!
//! They are polled by the very task that runs the function, whenever the function waits or pauses:
//! nothing is spawned, and whatever ends the call ends its turns.

mod inbox;
mod running;

pub(crate) use inbox::{Gave, Inbox, Ready, Room, TurnNews};
pub(crate) use running::RunningTurns;
