//! Seals: two other implementations, Bouncy Castle and the crate `fpe`, which has to give the standard's samples.

use std::fmt::Write;

use aes::{Aes128Enc, Aes192Enc, Aes256Enc};
use flakeforge_core::layout::seal::{MOST_TWEAK_BYTES, Seal};
use fpe::ff1::{BinaryNumeralString, FF1, FlexibleNumeralString};
use proptest::prelude::*;
use serde_json::Value;

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// FF1 as in `Seal`, in any radix: encrypted, and decrypted again.
macro_rules! ff1 {
    ($key:expr, $radix:expr, $tweak:expr, $digits:expr) => {
        match $key.len() {
            16 => ff1!(Aes128Enc, $key, $radix, $tweak, $digits),
            24 => ff1!(Aes192Enc, $key, $radix, $tweak, $digits),
            _ => ff1!(Aes256Enc, $key, $radix, $tweak, $digits),
        }
    };
    ($cipher:ty, $key:expr, $radix:expr, $tweak:expr, $digits:expr) => {{
        let ff1 = FF1::<$cipher>::new($key, $radix).unwrap();
        let encrypted = ff1.encrypt($tweak, &$digits).unwrap();
        let decrypted = ff1.decrypt($tweak, &encrypted).unwrap();
        (encrypted, decrypted)
    }};
}

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94";
const TEN: &str = "39383736353433323130";
const ELEVEN: &str = "3737373770717273373737";
const LONG: &str = "0123456789abcdefghi";

/// The samples 1 to 9 of FF1 that NIST published with SP 800-38G: bytes of the key, radix, tweak, text, result.
const SAMPLES: [(usize, u32, &str, &str, &str); 9] = [
    (16, 10, "", "0123456789", "2433477484"),
    (16, 10, TEN, "0123456789", "6124200773"),
    (16, 36, ELEVEN, LONG, "a9tv40mll9kdu509eum"),
    (24, 10, "", "0123456789", "2830668132"),
    (24, 10, TEN, "0123456789", "2496655549"),
    (24, 36, ELEVEN, LONG, "xbj3kv35jrawxv32ysr"),
    (32, 10, "", "0123456789", "6657667009"),
    (32, 10, TEN, "0123456789", "1001623463"),
    (32, 36, ELEVEN, LONG, "xs8a0azh2avyalyzuwd"),
];

#[test]
fn fpe_gives_the_samples_of_the_standard() {
    let read = |text: &str, radix| {
        FlexibleNumeralString::from(text.chars().map(|c| c.to_digit(radix).unwrap() as u16).collect::<Vec<_>>())
    };
    let write = |digits: FlexibleNumeralString, radix| -> String {
        Vec::from(digits).into_iter().map(|digit| char::from_digit(u32::from(digit), radix).unwrap()).collect()
    };
    for (size, radix, tweak, text, result) in SAMPLES {
        let (encrypted, decrypted) = ff1!(&bytes(KEY)[..size], radix, &bytes(tweak), read(text, radix));
        assert_eq!((write(encrypted, radix), write(decrypted, radix)), (result.to_owned(), text.to_owned()));
    }
}

/// Rows from Bouncy Castle: `__test__/vectors/seal/make.sh`.
#[test]
fn seals_are_those_of_bouncy_castle() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../__test__/vectors/seal.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let number = |hex: &Value| u64::from_str_radix(hex.as_str().unwrap(), 16).unwrap();
    let mut checked = 0;
    for group in vectors["seals"].as_array().unwrap() {
        let [key, tweak] = ["key", "tweak"].map(|name| bytes(group[name].as_str().unwrap()));
        let seal = Seal::new(&key, &tweak).unwrap();
        for row in group["ids"].as_array().unwrap() {
            let (id, sealed) = (number(&row[0]), number(&row[1]));
            assert_eq!((seal.seal(id), seal.open(sealed)), (sealed, id), "{group}");
            checked += 1;
        }
    }
    assert!(checked > 600, "only {checked} rows");
}

/// The tweak decides how many blocks there are, and where the number of the round is in the last one.
#[test]
fn tweaks_of_every_length_are_those_of_fpe() {
    let id: u64 = 0x687e_4889_8952_7000;
    for size in [16, 24, 32] {
        for length in 0..=MOST_TWEAK_BYTES {
            let tweak: Vec<u8> = (0..length).map(|at| (at * 7 + size) as u8).collect();
            let bits = BinaryNumeralString::from_bytes_le(&id.reverse_bits().to_le_bytes());
            let (encrypted, _) = ff1!(&bytes(KEY)[..size], 2, &tweak, bits);
            let sealed = Seal::new(&bytes(KEY)[..size], &tweak).unwrap().seal(id);
            assert_eq!(encrypted.to_bytes_le(), sealed.reverse_bits().to_le_bytes(), "{size} {length}");
        }
    }
}

/// The length of the key, which is 0, 1, 2 …; the tweak; and the codes of 0, of 2^64 − 1 and of 0x0123456789abcdef. From AES-CMAC
/// of OpenSSL.
const CODES: [(u8, &[u8], [u64; 3]); 9] = [
    (16, b"", [0x7fc3_1257_e861_2fbc, 0x73a8_d1c7_093a_237a, 0x738b_9478_bdc8_cccb]),
    (16, b"orders", [0xa75b_3be1_1975_0903, 0x9b92_22a9_479c_02d9, 0x0e77_59f9_80ac_4c89]),
    (16, &[0; 256], [0x9409_f3c0_28fc_acee, 0x1b2f_537e_4122_84cf, 0x23d1_1a2e_eaad_261d]),
    (24, b"", [0x6112_6426_1ead_2bd9, 0x5ea4_e0d4_5233_d11b, 0xc0fc_b06e_1e41_1507]),
    (24, b"orders", [0x08b8_326f_cccb_32f9, 0xfda0_5e2f_3aa9_0167, 0xa975_3927_7df5_060f]),
    (24, &[0; 256], [0x5775_4448_ddd0_4d8a, 0x9a56_30d2_259f_652b, 0xd5ac_9ca6_e640_cc9c]),
    (32, b"", [0xa164_6642_9abc_bcb2, 0x81c1_240a_1555_4f90, 0x8b40_022e_7506_382f]),
    (32, b"orders", [0x5657_40cf_3899_9753, 0x1625_65ea_7ddc_e97f, 0x1b27_2b00_577a_4b6b]),
    (32, &[0; 256], [0x0c83_63d2_b6a6_cd69, 0xc948_adf5_f015_7e57, 0xab27_ae7e_cecf_02e5]),
];

#[test]
fn codes_are_those_of_openssl() {
    for (length, tweak, expected) in CODES {
        let seal = Seal::new(&(0..length).collect::<Vec<_>>(), tweak).unwrap();
        assert_eq!([0, u64::MAX, 0x0123_4567_89ab_cdef].map(|sealed| seal.check(sealed)), expected, "{length}");
    }
}

#[test]
fn what_debug_prints_has_no_key() {
    let mut text = String::new();
    write!(text, "{:?}", Seal::new(&[7; 16], b"orders").unwrap()).unwrap();
    assert_eq!(text, "Seal { .. }");
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![16, 24, 32]).prop_flat_map(|size| prop::collection::vec(any::<u8>(), size))
}

fn tweak() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..=256)
}

proptest! {
    /// The crate `fpe`, with its own arithmetic: once over single digits, once over bytes whose lowest bit comes first.
    #[test]
    fn digits_are_bits_the_most_significant_first(key in key(), tweak in tweak(), id in any::<u64>()) {
        let sealed = Seal::new(&key, &tweak).unwrap().seal(id);

        let bits = |id: u64| (0..64).rev().map(|bit| (id >> bit & 1) as u16).collect::<Vec<_>>();
        let (encrypted, decrypted) = ff1!(&key, 2, &tweak, FlexibleNumeralString::from(bits(id)));
        prop_assert_eq!((Vec::from(encrypted), Vec::from(decrypted)), (bits(sealed), bits(id)));

        let lowest_first = |id: u64| id.reverse_bits().to_le_bytes();
        let (encrypted, _) = ff1!(&key, 2, &tweak, BinaryNumeralString::from_bytes_le(&lowest_first(id)));
        prop_assert_eq!(encrypted.to_bytes_le(), lowest_first(sealed));
    }

    #[test]
    fn a_seal_opens(key in key(), tweak in tweak(), id in any::<u64>()) {
        let seal = Seal::new(&key, &tweak).unwrap();
        prop_assert_eq!(seal.open(seal.seal(id)), id);
        prop_assert_eq!(seal.seal(seal.open(id)), id);
    }

    /// Another bit of the key, or one byte more of the tweak, gives another seal. By chance, one of 2^64 would be equal.
    #[test]
    fn another_key_or_tweak_gives_another_seal(key in key(), tweak in tweak(), id in any::<u64>(), bit in any::<prop::sample::Index>()) {
        let sealed = Seal::new(&key, &tweak).unwrap().seal(id);
        let mut other = key.clone();
        let bit = bit.index(key.len() * 8);
        other[bit / 8] ^= 1 << (bit % 8);
        prop_assert_ne!(Seal::new(&other, &tweak).unwrap().seal(id), sealed);

        let short = &tweak[..tweak.len().min(255)];
        let longer = [short, &[0]].concat();
        prop_assert_ne!(Seal::new(&key, &longer).unwrap().seal(id), Seal::new(&key, short).unwrap().seal(id));
    }
}
