//! Placeholder main until the bench body lands in the same change.
fn main() {}
