//! Random bits, chosen by the checker. They are never used twice: a number in them counts up, and the view ignores it. Where
//! code uses them to choose among slots, the checker decides the choice.

/// The minimum of every nonce and lineage. Other numbers in records are far below.
pub const NONCES: u64 = 1 << 60;
/// Each leads to another choice between two slots: the first of these to slot 1, the second to slot 0.
const CHOICES: [u64; 2] = [2 << 60, 3 << 60];

/// The random bits of a step, with an unused nonce.
pub fn bits(number: u64, choice: usize) -> u128 {
    let nonce = NONCES + number;
    (u128::from(CHOICES[choice] ^ nonce ^ 1) << 64) | u128::from(nonce)
}
