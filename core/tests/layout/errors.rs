//! What the errors of layouts say.

use std::error::Error;

use flakeforge_core::layout::timescale::OutOfRange;
use flakeforge_core::layout::{Layout, Spec};

fn refused(fields: &[(&str, u32)]) -> String {
    let fields = fields.iter().map(|&(name, width)| (name.to_owned(), width)).collect();
    let spec = Spec { name: "mine".to_owned(), epoch_ms: 0, tick_ns: 1_000_000, fields };
    let error: Box<dyn Error> = Layout::custom(spec).unwrap_err().into();
    error.to_string()
}

#[test]
fn a_spec_that_is_refused_says_which_field_and_why() {
    assert_eq!(refused(&[("timestamp", 42), ("a", 0)]), "fields[1] must have 1 to 63 bits, but 'a' has 0");
    assert_eq!(refused(&[("timestamp", 42), ("a", 21)]), "fields must have 64 bits in all, but have 63");
    assert_eq!(
        refused(&[("a", 10), ("timestamp", 44), ("a", 10)]),
        "fields[2] must have a name of its own, but 'a' is taken"
    );
}

#[test]
fn a_time_that_a_layout_does_not_have_is_named() {
    let scale = Layout::named("hazelcast").unwrap().scale();
    let error: Box<dyn Error> = scale.tick_of(-1_000_001).unwrap_err().into();
    assert_eq!(error.to_string(), "the layout has no tick for the Unix time -1000001 ns");
    assert_eq!(OutOfRange { unix_ns: 5 }.to_string(), "the layout has no tick for the Unix time 5 ns");
}
