//! Random bits, as the checker chooses them. They are never used twice: a number counts up with each, and the view
//! does not count it. Where code uses them to choose among slots, the checker decides what it chooses.

/// Every nonce and every lineage is at least this. Other numbers of records are far below.
pub const NONCES: u64 = 1 << 60;
/// Each leads to another choice between two slots.
const CHOICES: [u64; 2] = [2 << 60, 6 << 60];

/// The random bits of a step, with a nonce that was never used.
pub fn bits(number: u64, choice: usize) -> u128 {
    let nonce = NONCES + number;
    (u128::from(CHOICES[choice] ^ nonce ^ 1) << 64) | u128::from(nonce)
}
