use super::*;

#[test]
fn a_copy_keeps_its_name() {
    assert_eq!(name(), name());
    assert_eq!(name().len(), 16);
    assert_ne!(name(), "0".repeat(16), "it is random");
}
