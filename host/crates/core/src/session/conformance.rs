//! The suite that every session store must pass.
