//! What the errors of layouts say.

use std::error::Error;

use flakeforge_core::layout::seal::Seal;
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
    assert_eq!(
        refused(&[("timestamp", 42), ("a", 10), ("Sequence_ID", 12)]),
        "fields[2] must have the name 'counter', but is called 'Sequence_ID'"
    );
    assert_eq!(
        refused(&[("timestamp", 42), ("a", 21)]),
        "fields must have 64 bits in all, but have 63. Begin with ['zero', 1] if the first bits are not used"
    );
    assert_eq!(
        refused(&[("a", 10), ("timestamp", 44), ("a", 10)]),
        "fields[2] must have a name of its own, but 'a' is taken"
    );
}

#[test]
fn a_key_or_tweak_that_is_refused_is_counted_and_never_shown() {
    let refused = |key: &[u8], tweak: &[u8]| {
        let error: Box<dyn Error> = Seal::new(key, tweak).unwrap_err().into();
        error.to_string()
    };
    for bytes in (0..=64).filter(|bytes| ![16, 24, 32].contains(bytes)) {
        let expected = format!("a key must have 16, 24 or 32 bytes, but has {bytes}");
        assert_eq!(refused(&vec![b'k'; bytes], b""), expected);
    }
    assert_eq!(refused(&[b'k'; 16], &[0; 257]), "a tweak must have 0 to 256 bytes, but has 257");
    assert!(Seal::new(&[b'k'; 16], &[0; 256]).is_ok());
}
