//! An ID in a UUID: the 128 bits of RFC 9562, version 8, in which an application may put what it wants.
//!
//! | bits | what they are |
//! |---|---|
//! | 0…47 | the first 48 bits of the ID |
//! | 48…51 | the version: 8 |
//! | 52…63 | the next 12 bits of the ID |
//! | 64, 65 | the variant: `0b10` |
//! | 66…69 | the last 4 bits of the ID |
//! | 70…127 | the mark of the layout, which begins with `0b01`: see [`mark_of`] |
//!
//! Bit 0 is the most significant one. All that comes after the ID is the same for all IDs of a layout, so UUIDs sort as
//! their IDs do: as text, and as 16 bytes. Without the bit of the mark that is always set, the byte of the variant could be
//! 0x80, and the type UUID of MariaDB 10.11 refuses that.
//!
//! This file must never read a UUID that it would not write: another program's UUID is not an ID.

use crate::hash::hash;
use crate::refusal::Refusal;

const VERSION: u64 = 8;
const VARIANT: u64 = 0b10;
const HASH_BITS: u32 = 56;

const NO_TEXT: &str = "it is not 8-4-4-4-12 digits of hex";
const NO_VARIANT: &str = "its variant is not that of RFC 9562";
const NO_VERSION: &str = "its version is not 8";
const NO_MARK: &str = "bits 70 to 127, which follow the ID, are not the mark of this layout";
/// What is wrong with one whose ID no generator of the layout could have made.
pub(super) const NO_ID: &str = "its ID has a bit set that must be 0 in this layout";

/// The mark of a layout: `0b01`, and the last 56 bits of the 64-bit FNV-1a hash of a text that says how the layout reads
/// times.
pub fn mark_of(reading: &str) -> u64 {
    1 << HASH_BITS | hash(reading.as_bytes()) & ((1 << HASH_BITS) - 1)
}

/// The UUID of an ID, in lower case.
pub fn write(id: u64, mark: u64) -> String {
    let high = id >> 16 << 16 | VERSION << 12 | id >> 4 & 0xfff;
    let low = VARIANT << 62 | (id & 0xf) << 58 | mark;
    let (first, second, third) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
    format!("{first:08x}-{second:04x}-{third:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
}

/// The ID of a UUID, whose digits may be of either case.
pub fn read(text: &str, mark: u64) -> Result<u64, Refusal> {
    let bits = bits_of(text).ok_or(Refusal::Uuid(NO_TEXT))?;
    let (high, low) = ((bits >> 64) as u64, bits as u64);
    let (variant, version, after) = (low >> 62, high >> 12 & 0xf, low & (u64::MAX >> 6));
    if variant != VARIANT {
        return Err(Refusal::Uuid(NO_VARIANT));
    }
    if version != VERSION {
        return Err(Refusal::Uuid(NO_VERSION));
    }
    if after != mark {
        return Err(Refusal::Uuid(NO_MARK));
    }
    Ok(high >> 16 << 16 | (high & 0xfff) << 4 | low >> 58 & 0xf)
}

/// The number that the digits spell.
fn bits_of(text: &str) -> Option<u128> {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    if text.len() != 36 {
        return None;
    }
    text.bytes().enumerate().try_fold(0, |bits, (at, byte)| match DASHES.contains(&at) {
        true => (byte == b'-').then_some(bits),
        false => Some(bits << 4 | u128::from(char::from(byte).to_digit(16)?)),
    })
}
