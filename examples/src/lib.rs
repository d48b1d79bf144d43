//! Programs that use the hook registry: see `examples/`.
