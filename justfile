# One-line verbs; CONTRIBUTING.md says when to use which.

# The inner loop: types of everything on the host side.
check:
    cargo check --workspace

# Rules and orchestration only; seconds.
test:
    cargo test --package openprogram-core --package openprogram-runtime --package openprogram-providers

# Everything, guests included.
test-all:
    cargo test --workspace

lint:
    cargo fmt --all --check && cargo clippy --workspace --all-targets -- -D warnings

# Licences, versions and sources of dependencies, by cargo-deny where it is installed.
deny:
    cargo deny check licenses bans sources

doc:
    cargo doc --workspace --no-deps

# Accept changed snapshots after reading them.
snapshots:
    INSTA_UPDATE=always UPDATE_EXPECT=1 TRYBUILD=overwrite cargo test --workspace --no-fail-fast

bench:
    cargo run --release --package openprogram-tests --bin measure
