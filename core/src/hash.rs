//! FNV-1a, 64 bits: spreads texts and notices damage. Whoever wants to can make two texts with the same hash.

/// The hash of these bytes.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
