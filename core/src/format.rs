//! Bytes as text: decimal, hexadecimal, binary, octal and Crockford's base 32, for a number of any
//! length; and the way back for the 64 bits of an ID.
//!
//! Decimal, hexadecimal and octal have no leading zeros. Binary has eight digits a byte. Base 32 has as
//! many digits as the bytes need (13 for an ID), so that text sorts as the numbers do.
//!
//! This file must never lose a bit, whatever the length.

use num_bigint::BigUint;

/// A base to write numbers in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// 10
    Dec,
    /// 16, lower case
    Hex,
    /// 2
    Bin,
    /// 8
    Oct,
    /// 32, with Crockford's digits: no I, L, O or U, which read like other digits or spell words
    Base32,
}

const UP_TO_16: &[u8] = b"0123456789abcdef";
const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

impl Base {
    /// All bases, under the names that users write.
    pub const NAMES: [(&'static str, Self); 5] =
        [("dec", Self::Dec), ("hex", Self::Hex), ("bin", Self::Bin), ("oct", Self::Oct), ("base32", Self::Base32)];

    /// The base of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    fn radix(self) -> u32 {
        match self {
            Self::Dec => 10,
            Self::Hex => 16,
            Self::Bin => 2,
            Self::Oct => 8,
            Self::Base32 => 32,
        }
    }

    fn alphabet(self) -> &'static [u8] {
        match self {
            Self::Base32 => CROCKFORD,
            _ => UP_TO_16,
        }
    }

    /// How many digits are written at least for so many bytes.
    fn width(self, bytes: usize) -> usize {
        match self {
            Self::Bin => bytes * 8,
            Self::Base32 => (bytes * 8).div_ceil(5),
            Self::Dec | Self::Hex | Self::Oct => 1,
        }
    }

    /// The value of a digit. Letters of either case; in base 32 also Crockford's look-alikes.
    fn value(self, digit: u8) -> Option<u64> {
        if self != Self::Base32 {
            return char::from(digit).to_digit(self.radix()).map(u64::from);
        }
        match digit.to_ascii_uppercase() {
            b'O' => Some(0),
            b'I' | b'L' => Some(1),
            digit => CROCKFORD.iter().position(|&d| d == digit).map(|value| value as u64),
        }
    }
}

/// A number of any length, big-endian, as text.
pub fn digits(bytes: &[u8], base: Base) -> String {
    let digits = BigUint::from_bytes_be(bytes).to_radix_be(base.radix());
    let padding = base.width(bytes.len()).saturating_sub(digits.len());
    let letters = digits.iter().map(|&digit| char::from(base.alphabet()[usize::from(digit)]));
    std::iter::repeat_n('0', padding).chain(letters).collect()
}

/// Room for an ID in any base.
pub type Text = [u8; 64];

/// An ID as text, written into `room`: the same as [`digits`] of its 8 bytes, without an allocation.
pub fn id_digits(id: u64, base: Base, room: &mut Text) -> &[u8] {
    if base == Base::Dec {
        let mut buffer = itoa::Buffer::new();
        let text = buffer.format(id).as_bytes();
        room[..text.len()].copy_from_slice(text);
        return &room[..text.len()];
    }
    let step = base.radix().ilog2();
    let width = base.width(8).max((64 - id.leading_zeros()).div_ceil(step) as usize);
    let mut rest = id;
    for slot in room[..width].iter_mut().rev() {
        *slot = base.alphabet()[(rest & u64::from(base.radix() - 1)) as usize];
        rest >>= step;
    }
    &room[..width]
}

/// The ID that a text spells, without prefix; `None` for anything else: no digits, a character that is
/// no digit, or a number of more than 64 bits.
pub fn parse(text: &str, base: Base) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.bytes().try_fold(0u64, |id, digit| id.checked_mul(u64::from(base.radix()))?.checked_add(base.value(digit)?))
}
