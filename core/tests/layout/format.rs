//! Texts of numbers, compared with those of the standard library and num-bigint.

use flakeforge_core::layout::format::{Base, Text, id_digits};
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

/// The width for a number of bytes is that of their largest number, for lengths up to 600.
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
    fn text_of_a_fixed_width_sorts_as_numbers_do(a: u64, b: u64) {
        for base in [Base::Bin, Base::Base32, Base::Base36, Base::Base58, Base::Base62] {
            prop_assert_eq!(a.cmp(&b), text(a, base).cmp(&text(b, base)), "{:?}", base);
        }
    }
}
