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
