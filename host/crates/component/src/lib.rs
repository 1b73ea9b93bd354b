//! WebAssembly components: loading, reflection, sandboxed calls.
