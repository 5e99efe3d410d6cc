//! Any text in every base: it is read as the standard library and num-bigint read it, and its number is the same after
//! it was written again.

#![no_main]

use flakeforge_core::layout::format::{Base, Text, id_digits, parse};
use libfuzzer_sys::fuzz_target;
use num_bigint::BigUint;

fuzz_target!(|text: &str| {
    for (_, base) in Base::NAMES {
        let id = parse(text, base);
        assert_eq!(id, expected(text, base), "{text:?} in {base:?}");
        if let Some(id) = id {
            writing_inverts(text, id, base);
        }
    }
});

/// What other libraries read in a text.
fn expected(text: &str, base: Base) -> Option<u64> {
    let radix = match base {
        Base::Dec => 10,
        Base::Hex => 16,
        Base::Bin => 2,
        Base::Oct => 8,
        Base::Base32 => return BigUint::parse_bytes(plain_base32(text)?.as_bytes(), 32)?.try_into().ok(),
        Base::Base36 if text.len() == 13 => 36,
        Base::Base58 => return fixed(text, b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
        Base::Base62 => return fixed(text, b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        Base::Base36 => return None,
    };
    if text.starts_with('+') { None } else { u64::from_str_radix(text, radix).ok() } // an ID has no sign
}

/// Crockford's digits in the form that num-bigint knows: 0…9, then a…v.
fn plain_base32(text: &str) -> Option<String> {
    text.to_ascii_lowercase()
        .chars()
        .map(|digit| match digit {
            'o' => Some('0'),
            'i' | 'l' => Some('1'),
            _ => char::from_digit("0123456789abcdefghjkmnpqrstvwxyz".find(digit)? as u32, 32),
        })
        .collect()
}

/// 11 of these letters, read as num-bigint reads their values.
fn fixed(text: &str, letters: &[u8]) -> Option<u64> {
    let value = |letter: u8| letters.iter().position(|&known| known == letter).map(|value| value as u8);
    let digits: Vec<u8> = text.bytes().map(value).collect::<Option<_>>()?;
    if digits.len() != 11 {
        return None;
    }
    BigUint::from_radix_be(&digits, letters.len() as u32)?.try_into().ok()
}

/// An ID that was read is written as text of the same value.
fn writing_inverts(text: &str, id: u64, base: Base) {
    let mut room = [0; size_of::<Text>()];
    let written = std::str::from_utf8(id_digits(id, base, &mut room)).unwrap();
    assert_eq!(parse(written, base), Some(id), "{text:?} in {base:?}");
}
