//! Any 1 to 256 bytes in every base: the digits are those of num-bigint, and as many as the base promises.

#![no_main]

use flakeforge_core::layout::format::{Base, Text, digits, id_digits, parse};
use libfuzzer_sys::fuzz_target;
use num_bigint::BigUint;

fuzz_target!(|bytes: &[u8]| {
    if !(1..=256).contains(&bytes.len()) {
        return;
    }
    for (_, base) in Base::NAMES {
        let text = digits(bytes, base);
        assert_eq!(text, expected(bytes, base), "{bytes:?} in {base:?}");
        if let Ok(id) = bytes.try_into().map(u64::from_be_bytes) {
            let mut room = [0; size_of::<Text>()];
            assert_eq!(text.as_bytes(), id_digits(id, base, &mut room), "{id} in {base:?}");
            assert_eq!(parse(&text, base), Some(id), "{text} in {base:?}");
        }
    }
});

/// num-bigint's own text, or its digits in the letters of the base, with zeros in front if the width is fixed.
fn expected(bytes: &[u8], base: Base) -> String {
    let number = BigUint::from_bytes_be(bytes);
    let bits = bytes.len() * 8;
    match base {
        Base::Dec => number.to_str_radix(10),
        Base::Hex => number.to_str_radix(16),
        Base::Oct => number.to_str_radix(8),
        Base::Bin => format!("{:0>bits$}", number.to_str_radix(2)),
        Base::Base32 => fixed(bytes, b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
        Base::Base36 => fixed(bytes, b"0123456789abcdefghijklmnopqrstuvwxyz"),
        Base::Base58 => fixed(bytes, b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
        Base::Base62 => fixed(bytes, b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    }
}

/// In these letters, and as wide as the largest number of that many bytes.
fn fixed(bytes: &[u8], letters: &[u8]) -> String {
    let digits = |bytes: &[u8]| BigUint::from_bytes_be(bytes).to_radix_be(letters.len() as u32);
    let width = digits(&vec![0xff; bytes.len()]).len();
    let text: String = digits(bytes).iter().map(|&digit| char::from(letters[usize::from(digit)])).collect();
    format!("{}{text}", char::from(letters[0]).to_string().repeat(width - text.len()))
}
