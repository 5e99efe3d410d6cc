//! AES on blocks of 16 bytes, each a `u128` whose first byte is the most significant one.

use aes::cipher::consts::U16;
use aes::cipher::{Array, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes::{Aes128Enc, Aes192Enc, Aes256Enc};

/// The bytes of a block.
pub(super) const BLOCK: usize = 16;

/// A key. Nothing here decrypts.
pub(super) enum Cipher {
    Aes128(Aes128Enc),
    Aes192(Aes192Enc),
    Aes256(Aes256Enc),
}

impl Cipher {
    /// A key of 16, 24 or 32 bytes.
    pub(super) fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Aes128Enc::new_from_slice(key).ok().map(Self::Aes128),
            24 => Aes192Enc::new_from_slice(key).ok().map(Self::Aes192),
            32 => Aes256Enc::new_from_slice(key).ok().map(Self::Aes256),
            _ => None,
        }
    }

    /// A key of 16 bytes that a block holds.
    pub(super) fn of_block(key: u128) -> Self {
        Self::Aes128(Aes128Enc::new(&Array::from(key.to_be_bytes())))
    }

    /// Passes the AES of this processor, which the crate looks up in each call: so what needs it often is in one.
    #[inline]
    pub(super) fn with_aes(&self, work: impl BlockCipherEncClosure<BlockSize = U16>) {
        match self {
            Self::Aes128(aes) => aes.encrypt_with_backend(work),
            Self::Aes192(aes) => aes.encrypt_with_backend(work),
            Self::Aes256(aes) => aes.encrypt_with_backend(work),
        }
    }

    /// CBC over all blocks, up to what the last encryption would take.
    pub(super) fn chained(&self, blocks: &[[u8; BLOCK]]) -> u128 {
        let mut last = 0;
        self.with_aes(Chain { blocks, last: &mut last });
        last
    }

    /// One block.
    pub(super) fn encrypt(&self, block: u128) -> u128 {
        let mut result = block;
        self.with_aes(One { block: &mut result });
        result
    }
}

#[inline]
pub(super) fn encrypted(aes: &impl BlockCipherEncBackend<BlockSize = U16>, block: u128) -> u128 {
    let mut block = Array::from(block.to_be_bytes());
    aes.encrypt_block_inplace(&mut block);
    u128::from_be_bytes(block.into())
}

struct Chain<'a> {
    blocks: &'a [[u8; BLOCK]],
    last: &'a mut u128,
}

impl BlockSizeUser for Chain<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Chain<'_> {
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, aes: &B) {
        let [before @ .., last] = self.blocks else { return };
        let chained = before.iter().fold(0, |chained, block| encrypted(aes, chained ^ u128::from_be_bytes(*block)));
        *self.last = chained ^ u128::from_be_bytes(*last);
    }
}

struct One<'a> {
    block: &'a mut u128,
}

impl BlockSizeUser for One<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for One<'_> {
    #[inline(always)] // where the processor's own instructions are enabled
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, aes: &B) {
        *self.block = encrypted(aes, *self.block);
    }
}
