//! Public IDs: encrypts 64 bits as 64 other bits.
//!
//! A seal is FF1 of [NIST SP 800-38G](https://doi.org/10.6028/NIST.SP.800-38G) with AES, over numeral strings of 64 digits in
//! radix 2: the bits of the ID, **the most significant first**. Any implementation of FF1 opens a seal, given the key and the
//! tweak.
//!
//! The crates `fpe` and `aes` do the ten rounds and AES; there is no cryptography here. This file gives `fpe` its arithmetic:
//! half of 64 binary digits is a `u32`, and processors add modulo 2^32. The strings of `fpe` have any length and would
//! allocate in each round.

use std::fmt;

use aes::{Aes128Enc, Aes192Enc, Aes256Enc};
use fpe::ff1::{FF1, NumeralString, Operations};

use crate::refusal::Refusal;

/// Valid key lengths in bytes: AES-128, AES-192 and AES-256.
pub const KEY_BYTES: [usize; 3] = [16, 24, 32];

/// The maximum length of a tweak in bytes. FF1 allows more, but every 16 bytes cost another AES block per ID.
pub const MOST_TWEAK_BYTES: usize = 256;

const RADIX: u32 = 2;

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
    tweak: Box<[u8]>,
}

/// FF1 only needs AES encryption, also to open a seal.
enum Cipher {
    Aes128(FF1<Aes128Enc>),
    Aes192(FF1<Aes192Enc>),
    Aes256(FF1<Aes256Enc>),
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
        let cipher = match key.len() {
            16 => FF1::new(key, RADIX).map(Cipher::Aes128),
            24 => FF1::new(key, RADIX).map(Cipher::Aes192),
            32 => FF1::new(key, RADIX).map(Cipher::Aes256),
            bytes => return Err(Refusal::Key(bytes)),
        };
        Ok(Self { cipher: cipher.expect("2 is a radix of FF1"), tweak: tweak.into() })
    }

    /// The public number for an ID.
    pub fn seal(&self, id: u64) -> u64 {
        let digits = match &self.cipher {
            Cipher::Aes128(ff1) => ff1.encrypt(&self.tweak, &Digits(id)),
            Cipher::Aes192(ff1) => ff1.encrypt(&self.tweak, &Digits(id)),
            Cipher::Aes256(ff1) => ff1.encrypt(&self.tweak, &Digits(id)),
        };
        digits.expect(FITS).0
    }

    /// The ID behind a number that [`seal`](Self::seal) returned. Every 64-bit number is the seal of some ID.
    pub fn open(&self, sealed: u64) -> u64 {
        let digits = match &self.cipher {
            Cipher::Aes128(ff1) => ff1.decrypt(&self.tweak, &Digits(sealed)),
            Cipher::Aes192(ff1) => ff1.decrypt(&self.tweak, &Digits(sealed)),
            Cipher::Aes256(ff1) => ff1.decrypt(&self.tweak, &Digits(sealed)),
        };
        digits.expect(FITS).0
    }
}

const FITS: &str = "64 digits of radix 2 are enough and valid";

/// 64 binary digits, the most significant first.
struct Digits(u64);

/// Half of the digits, as a number.
struct Half(u32);

impl NumeralString for Digits {
    type Ops = Half;

    fn is_valid(&self, radix: u32) -> bool {
        radix == RADIX
    }

    fn numeral_count(&self) -> usize {
        u64::BITS as usize
    }

    fn split(&self) -> (Half, Half) {
        (Half((self.0 >> u32::BITS) as u32), Half(self.0 as u32))
    }

    fn concat(first: Half, last: Half) -> Self {
        Self(u64::from(first.0) << u32::BITS | u64::from(last.0))
    }
}

/// `radix^m` is always 2^32 here, because both halves have 32 digits.
impl Operations for Half {
    type Bytes = [u8; 4];

    fn numeral_count(&self) -> usize {
        u32::BITS as usize
    }

    fn to_be_bytes(&self, _radix: u32, _bytes: usize) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    fn add_mod_exp(self, other: impl Iterator<Item = u8>, _radix: u32, _digits: usize) -> Self {
        Self(self.0.wrapping_add(modulo(other)))
    }

    fn sub_mod_exp(self, other: impl Iterator<Item = u8>, _radix: u32, _digits: usize) -> Self {
        Self(self.0.wrapping_sub(modulo(other)))
    }
}

/// A big-endian number of any length modulo 2^32: its last four bytes.
fn modulo(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0, |number, byte| number << 8 | u32::from(byte))
}
