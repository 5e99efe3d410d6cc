//! Codes for sealed IDs, which only holders of the key can compute: check characters are digits of them.
//!
//! A code is the first half of AES-CMAC ([NIST SP 800-38B](https://doi.org/10.6028/NIST.SP.800-38B), RFC 4493) of the 8 bytes of
//! a sealed ID. Its key is not the seal's, but AES-CMAC of [`LABEL`] and the tweak with the seal's key. So no block is encrypted
//! for both uses with the same key, and codes of another tweak are other codes.

use crate::layout::block::{BLOCK, Cipher};

/// The beginning of the text that the key for codes is derived from.
const LABEL: &[u8; BLOCK] = b"flakeforge check";

/// What computes the codes of a seal.
pub(super) struct Check {
    cipher: Cipher,
    /// the subkey for a last block that is not full, as 8 bytes are not
    padded: u128,
}

impl Check {
    /// For the seal with this key and tweak.
    pub(super) fn new(seal: &Cipher, tweak: &[u8]) -> Self {
        let cipher = Cipher::of_block(cmac(seal, &[LABEL, tweak].concat()));
        let [_, padded] = subkeys(&cipher);
        Self { cipher, padded }
    }

    /// The code of a sealed ID.
    pub(super) fn code(&self, sealed: u64) -> u64 {
        let block = u128::from(sealed) << u64::BITS | 1 << (u64::BITS - 1); // padded with a bit, and zeros
        (self.cipher.encrypt(block ^ self.padded) >> u64::BITS) as u64
    }
}

/// AES-CMAC of any message.
fn cmac(cipher: &Cipher, message: &[u8]) -> u128 {
    let [full, padded] = subkeys(cipher);
    let is_full = !message.is_empty() && message.len().is_multiple_of(BLOCK);
    let mut message = message.to_vec();
    if !is_full {
        message.push(0x80);
        message.resize(message.len().next_multiple_of(BLOCK), 0);
    }
    cipher.encrypt(cipher.chained(message.as_chunks().0) ^ if is_full { full } else { padded })
}

/// What a last block is combined with: one that is full, and one that was padded.
fn subkeys(cipher: &Cipher) -> [u128; 2] {
    let full = doubled(cipher.encrypt(0));
    [full, doubled(full)]
}

/// A polynomial of GF(2^128) times x.
fn doubled(block: u128) -> u128 {
    (block << 1) ^ ((block >> (u128::BITS - 1)) * 0x87)
}

#[cfg(test)]
mod tests;
