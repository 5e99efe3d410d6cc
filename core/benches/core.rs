//! What the parts of making an ID cost: `cargo bench -p flakeforge-core`.
fn main() {
    divan::main();
}
