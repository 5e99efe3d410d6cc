//! Public IDs: encrypts 64 bits as 64 other bits.
//!
//! A seal is FF1 of [NIST SP 800-38G](https://doi.org/10.6028/NIST.SP.800-38G) with AES, over numeral strings of 64 digits in
//! radix 2: the bits of the ID, **the most significant first**. Any implementation of FF1 opens a seal, given the key and the
//! tweak.
//!
//! The crate `aes` encrypts blocks, and this file does FF1's ten rounds with it. With a half of 32 digits, the arithmetic of a
//! round is that of `u32`, and all of its input but the last five bytes is the same for every ID: those blocks are encrypted
//! once, in [`Seal::new`]. An ID then costs ten blocks of AES, 150 ns. The crate `fpe` encrypts 20 or more, since it starts
//! each round from the key, and takes 450; it is the oracle of the tests.

use std::fmt;

use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncClosure, BlockSizeUser};

use crate::layout::block::{BLOCK, Cipher, encrypted};
use crate::layout::check::Check;
use crate::refusal::Refusal;

/// Valid key lengths in bytes: AES-128, AES-192 and AES-256.
pub const KEY_BYTES: [usize; 3] = [16, 24, 32];

/// The maximum length of a tweak in bytes. FF1 allows more, but every 16 bytes cost another AES block per ID.
pub const MOST_TWEAK_BYTES: usize = 256;

const ROUNDS: u8 = 10;

/// The input of a round that depends on it: its number, and half of the digits.
const OWN: usize = 1 + size_of::<u32>();

/// A key and a tweak for sealing and opening IDs.
///
/// ```
/// # use flakeforge_core::layout::seal::Seal;
/// let orders = Seal::new(b"not a good key..", b"orders")?;
/// let sealed = orders.seal(7_529_535_382_561_648_640);
/// assert_eq!(orders.open(sealed), 7_529_535_382_561_648_640);
/// # Ok::<(), flakeforge_core::refusal::Refusal>(())
/// ```
pub struct Seal {
    cipher: Cipher,
    /// the last block of a round's input before AES, except its own bytes, which are 0 here
    start: u128,
    check: Check,
}

/// Shows neither the key nor anything derived from it.
impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").finish_non_exhaustive()
    }
}

impl Seal {
    /// A seal with a key of 16, 24 or 32 bytes, which should be random, and a tweak of 0 to 256 bytes, which need not be
    /// secret. Each tweak gives another seal.
    pub fn new(key: &[u8], tweak: &[u8]) -> Result<Self, Refusal> {
        if tweak.len() > MOST_TWEAK_BYTES {
            return Err(Refusal::Tweak(tweak.len()));
        }
        let cipher = Cipher::new(key).ok_or(Refusal::Key(key.len()))?;
        let mut input = header(tweak.len()).to_vec();
        input.extend(tweak);
        input.resize((input.len() + OWN).next_multiple_of(BLOCK), 0);
        let start = cipher.chained(input.as_chunks().0); // PRF of the standard, up to where the rounds differ
        let check = Check::new(&cipher, tweak);
        Ok(Self { cipher, start, check })
    }

    /// The public number for an ID.
    pub fn seal(&self, id: u64) -> u64 {
        self.rounds(id, 0..ROUNDS, u32::wrapping_add)
    }

    /// The ID behind a number that [`seal`](Self::seal) returned. Every 64-bit number is the seal of some ID.
    pub fn open(&self, sealed: u64) -> u64 {
        // The same on exchanged halves, from the last round to the first.
        let halves = sealed.rotate_left(u32::BITS);
        self.rounds(halves, (0..ROUNDS).rev(), u32::wrapping_sub).rotate_left(u32::BITS)
    }

    /// The code of a sealed ID, which only holders of the key can compute: 64 bits, of which a text shows the last digits.
    pub fn check(&self, sealed: u64) -> u64 {
        self.check.code(sealed)
    }

    #[inline]
    fn rounds(&self, digits: u64, order: impl Iterator<Item = u8>, combine: impl Fn(u32, u32) -> u32) -> u64 {
        let mut result = digits;
        self.cipher.with_aes(Rounds { start: self.start, order, combine, digits: &mut result });
        result
    }
}

/// P, the first block of each round's input: version, method and number of rounds; the radix, 2; and how many digits there are
/// in a half, in all, and bytes in the tweak.
fn header(tweak: usize) -> [u8; BLOCK] {
    let mut p = [1, 2, 1, 0, 0, 2, ROUNDS, 32, 0, 0, 0, 64, 0, 0, 0, 0];
    p[14..].copy_from_slice(&(tweak as u16).to_be_bytes()); // at most MOST_TWEAK_BYTES
    p
}

/// Step 6 of the standard: exchanges the halves in each round, and combines one of them with what AES makes of the other.
struct Rounds<'a, Order, Combine> {
    start: u128,
    order: Order,
    combine: Combine,
    digits: &'a mut u64,
}

impl<Order, Combine> BlockSizeUser for Rounds<'_, Order, Combine> {
    type BlockSize = U16;
}

impl<Order, Combine> BlockCipherEncClosure for Rounds<'_, Order, Combine>
where
    Order: Iterator<Item = u8>,
    Combine: Fn(u32, u32) -> u32,
{
    #[inline(always)] // where the processor's own instructions are enabled
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, aes: &B) {
        let (mut a, mut b) = ((*self.digits >> u32::BITS) as u32, *self.digits as u32);
        for round in self.order {
            let r = encrypted(aes, self.start ^ (u128::from(round) << u32::BITS | u128::from(b)));
            let y = (r >> u64::BITS) as u32; // of its first 8 bytes, modulo 2^32
            (a, b) = (b, (self.combine)(a, y));
        }
        *self.digits = u64::from(a) << u32::BITS | u64::from(b);
    }
}
