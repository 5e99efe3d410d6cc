//! FNV-1a, 64 bits, which spreads texts and detects damage but does not resist deliberate collisions. And SplitMix64, for
//! random numbers that need not be secret.

/// The hash of these bytes.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The number at this position of the SplitMix64 sequence with this seed. All 64 bits are random.
pub(crate) fn random(seed: u64, place: u64) -> u64 {
    let mut mixed = seed.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
