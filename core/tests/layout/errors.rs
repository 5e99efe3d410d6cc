//! The error messages of seals.

use std::error::Error;

use flakeforge_core::layout::seal::Seal;

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
