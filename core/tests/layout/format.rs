//! Texts of numbers, compared with those of the standard library and num-bigint.

use flakeforge_core::layout::format::{Base, Text, id_digits, parse};
use num_bigint::BigUint;
use proptest::prelude::*;
use std::mem::size_of;

fn text(id: u64, base: Base) -> String {
    let mut room = [0; size_of::<Text>()];
    String::from_utf8(id_digits(id, base, &mut room).to_vec()).unwrap()
}

#[test]
fn zero_and_the_largest() {
    let expected = [
        (Base::Dec, "0", "18446744073709551615"),
        (Base::Hex, "0", "ffffffffffffffff"),
        (Base::Oct, "0", "1777777777777777777777"),
        (Base::Base32, "0000000000000", "FZZZZZZZZZZZZ"),
        (Base::Base36, "0000000000000", "3w5e11264sgsf"),
        (Base::Base58, "11111111111", "jpXCZedGfVQ"),
        (Base::Base62, "00000000000", "LygHa16AHYF"),
    ];
    for (base, zero, largest) in expected {
        assert_eq!((text(0, base), text(u64::MAX, base)), (zero.into(), largest.into()), "{base:?}");
    }
    assert_eq!((text(0, Base::Bin), text(u64::MAX, Base::Bin)), ("0".repeat(64), "1".repeat(64)));
}

#[test]
fn crockfords_look_alikes_are_read() {
    assert_eq!(parse("OIL", Base::Base32), parse("011", Base::Base32));
    assert_eq!(parse("oil", Base::Base32), Some(33));
    assert_eq!(parse("U", Base::Base32), None);
}

#[test]
fn what_is_no_number_is_refused() {
    for text in ["", " ", "+1", "-1", "1_0", "0x1", "g", "１"] {
        for (name, base) in Base::NAMES {
            let digit_here = ["0x1", "g"].contains(&text) && base == Base::Base32; // others have a fixed width
            assert_eq!(parse(text, base).is_some(), digit_here, "{text:?} in {name}");
        }
    }
    assert_eq!(parse("18446744073709551616", Base::Dec), None);
    assert_eq!(parse("10000000000000000", Base::Hex), None);
    assert_eq!(parse("G000000000000", Base::Base32), None);
    assert_eq!(parse("00018446744073709551615", Base::Dec), Some(u64::MAX));
}

/// The largest text of each alphabet, the texts of 2^64 and its neighbours, one digit more, and one less.
#[test]
fn a_fixed_width_is_exact_and_64_bits_the_most() {
    let bases = [
        (Base::Base36, "3w5e11264sgsf", "3w5e11264sgsg", 'z', '0'),
        (Base::Base58, "jpXCZedGfVQ", "jpXCZedGfVR", 'z', '1'),
        (Base::Base62, "LygHa16AHYF", "LygHa16AHYG", 'z', '0'),
    ];
    for (base, largest, too_large, last_digit, zero) in bases {
        assert_eq!(base.text_width(), Some(largest.len()), "{base:?}");
        assert_eq!(parse(largest, base), Some(u64::MAX), "{base:?}");
        assert_eq!(parse(too_large, base), None, "{base:?}");
        assert_eq!(parse(&last_digit.to_string().repeat(largest.len()), base), None, "{base:?}");
        assert_eq!(parse(&zero.to_string().repeat(largest.len()), base), Some(0), "{base:?}");
        assert_eq!(parse(&zero.to_string().repeat(largest.len() - 1), base), None, "{base:?}");
        assert_eq!(parse(&zero.to_string().repeat(largest.len() + 1), base), None, "{base:?}");
        assert_eq!(parse(&format!("{zero}{largest}"), base), None, "{base:?}");
    }
    for base in [Base::Dec, Base::Hex, Base::Bin, Base::Oct, Base::Base32] {
        assert_eq!(base.text_width(), None, "{base:?}");
    }
}

#[test]
fn letters_that_a_base_leaves_out_are_refused() {
    for letter in ["0", "O", "I", "l"] {
        assert_eq!(parse(&format!("{letter}1111111111"), Base::Base58), None, "{letter}");
    }
    for other in ["-", "_", "+", "/", "=", " ", "@", "[", "`", "{", "\0"] {
        assert_eq!(parse(&format!("{other}0000000000"), Base::Base62), None, "{other:?}");
        assert_eq!(parse(&format!("{other}000000000000"), Base::Base36), None, "{other:?}");
    }
}

/// Case does not matter in base 36 and hexadecimal; in base 58 and 62 the two cases are two digits.
#[test]
fn case_counts_where_it_has_to() {
    assert_eq!(parse("3W5E11264SGSF", Base::Base36), Some(u64::MAX));
    assert_eq!(parse("1111111111a", Base::Base58), Some(33));
    assert_eq!(parse("1111111111A", Base::Base58), Some(9));
    assert_eq!(parse("0000000000a", Base::Base62), Some(36));
    assert_eq!(parse("0000000000A", Base::Base62), Some(10));
}

/// The width for a number of bytes is that of their largest number, for every length up to a few thousand.
#[test]
fn a_fixed_width_fits_its_bytes_exactly() {
    for base in [Base::Base32, Base::Base36, Base::Base58, Base::Base62] {
        let radix = BigUint::from(base.radix());
        let (mut width, mut power) = (0, BigUint::from(1u32));
        for bytes in 1..=600 {
            let count = BigUint::from(1u32) << (bytes * 8); // how many numbers there are
            while power < count {
                power *= &radix;
                width += 1;
            }
            assert_eq!(base.width(bytes), width, "{bytes} bytes in {base:?}");
        }
    }
}

proptest! {
    #[test]
    fn an_id_is_written_as_the_standard_library_does(id: u64) {
        prop_assert_eq!(text(id, Base::Dec), id.to_string());
        prop_assert_eq!(text(id, Base::Hex), format!("{id:x}"));
        prop_assert_eq!(text(id, Base::Oct), format!("{id:o}"));
        prop_assert_eq!(text(id, Base::Bin), format!("{id:064b}"));
    }

    #[test]
    fn an_id_has_the_digits_that_num_bigint_has(id: u64) {
        for (_, base) in Base::NAMES {
            let digits = BigUint::from(id).to_radix_be(base.radix()).into_iter();
            let zeros = std::iter::repeat_n(0, base.width(8).saturating_sub(digits.len()));
            let letters = zeros.chain(digits).map(|digit| char::from(base.alphabet()[usize::from(digit)]));
            prop_assert_eq!(text(id, base), letters.collect::<String>());
        }
    }

    #[test]
    fn parse_inverts_and_ignores_case(id: u64) {
        for (_, base) in Base::NAMES {
            prop_assert_eq!(parse(&text(id, base), base), Some(id));
            if ![Base::Base58, Base::Base62].contains(&base) {
                prop_assert_eq!(parse(&text(id, base).to_lowercase(), base), Some(id));
                prop_assert_eq!(parse(&text(id, base).to_uppercase(), base), Some(id));
            }
        }
    }

    #[test]
    fn text_of_a_fixed_width_sorts_as_numbers_do(a: u64, b: u64) {
        for base in [Base::Bin, Base::Base32, Base::Base36, Base::Base58, Base::Base62] {
            prop_assert_eq!(a.cmp(&b), text(a, base).cmp(&text(b, base)), "{:?}", base);
        }
    }

    /// If the width is fixed and case counts, only one text stands for an ID.
    #[test]
    fn what_base_58_and_62_read_is_what_they_write(spelt in "[0-9A-Za-z]{11}") {
        for base in [Base::Base58, Base::Base62] {
            if let Some(id) = parse(&spelt, base) {
                prop_assert_eq!(&text(id, base), &spelt);
            }
        }
    }
}
