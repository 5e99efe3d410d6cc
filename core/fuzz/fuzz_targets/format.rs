//! Any 1 to 256 bytes in every base: the digits that num-bigint writes, as wide as the base promises.

#![no_main]

use flakeforge_core::format::{Base, Text, digits, id_digits, parse};
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

/// num-bigint's own text, in Crockford's letters where the base is 32, with zeros in front where the width is fixed.
fn expected(bytes: &[u8], base: Base) -> String {
    let number = BigUint::from_bytes_be(bytes);
    let bits = bytes.len() * 8;
    match base {
        Base::Dec => number.to_str_radix(10),
        Base::Hex => number.to_str_radix(16),
        Base::Oct => number.to_str_radix(8),
        Base::Bin => format!("{:0>bits$}", number.to_str_radix(2)),
        Base::Base32 => {
            let crockford = |digit: char| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"[digit.to_digit(32).unwrap() as usize];
            let text: String = number.to_str_radix(32).chars().map(|digit| char::from(crockford(digit))).collect();
            format!("{text:0>width$}", width = bits.div_ceil(5))
        }
    }
}
