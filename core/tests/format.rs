//! Text forms against the standard library's and num-bigint's own.

#[cfg(not(loom))]
mod tests {
    use flakeforge_core::format::{Base, Text, digits, id_digits, parse};
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
                let digit_here = ["0x1", "g"].contains(&text) && base == Base::Base32;
                assert_eq!(parse(text, base).is_some(), digit_here, "{text:?} in {name}");
            }
        }
        assert_eq!(parse("18446744073709551616", Base::Dec), None);
        assert_eq!(parse("10000000000000000", Base::Hex), None);
        assert_eq!(parse("G000000000000", Base::Base32), None);
        assert_eq!(parse("00018446744073709551615", Base::Dec), Some(u64::MAX));
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
        fn both_ways_to_write_agree(id: u64) {
            for (_, base) in Base::NAMES {
                prop_assert_eq!(text(id, base), digits(&id.to_be_bytes(), base));
            }
        }

        #[test]
        fn parse_inverts_and_ignores_case(id: u64) {
            for (_, base) in Base::NAMES {
                prop_assert_eq!(parse(&text(id, base), base), Some(id));
                prop_assert_eq!(parse(&text(id, base).to_lowercase(), base), Some(id));
                prop_assert_eq!(parse(&text(id, base).to_uppercase(), base), Some(id));
            }
        }

        #[test]
        fn base_32_sorts_as_numbers_do(a: u64, b: u64) {
            prop_assert_eq!(a.cmp(&b), text(a, Base::Base32).cmp(&text(b, Base::Base32)));
        }

        #[test]
        fn any_length_is_written_whole(bytes in prop::collection::vec(any::<u8>(), 1..80)) {
            let number = BigUint::from_bytes_be(&bytes);
            prop_assert_eq!(digits(&bytes, Base::Dec), number.to_string());
            prop_assert_eq!(digits(&bytes, Base::Hex), format!("{number:x}"));
            prop_assert_eq!(digits(&bytes, Base::Oct), format!("{number:o}"));
            let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
            prop_assert_eq!(digits(&bytes, Base::Bin), bits);
            let base32 = digits(&bytes, Base::Base32);
            prop_assert_eq!(base32.len(), (bytes.len() * 8).div_ceil(5));
            let back = base32.bytes().fold(BigUint::ZERO, |n, digit| {
                n * 32u32 + parse(char::from(digit).encode_utf8(&mut [0; 4]), Base::Base32).unwrap()
            });
            prop_assert_eq!(back, number);
        }
    }
}
