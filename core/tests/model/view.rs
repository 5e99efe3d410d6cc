//! When the checker treats two states as the same: if everything that can follow is the same.

use std::hash::Hasher;

use crate::fresh::NONCES;
use crate::store::SERVER;
use crate::world::DAWN;

const RECORD: &[u8] = b"flakeforge";

/// The values met so far; the number of each is its position.
#[derive(Default)]
struct Known<T>(Vec<T>);

impl<T: PartialEq> Known<T> {
    fn place(&mut self, value: T) -> usize {
        self.0.iter().position(|known| *known == value).unwrap_or_else(|| {
            self.0.push(value);
            self.0.len() - 1
        })
    }
}

/// - A time counts only by its distance from now, and not even that if it is long past. So runs need no end: a world that
///   repeats is recognised.
/// - For owners, nonces, lineages and identities, only equality counts, not their values. So they are numbered in the order
///   of their appearance.
/// - For positions, only their order counts.
/// - The number of a member's consecutive failures only affects a wait, which is one ms here, so it does not count.
///
/// A hasher can do this because in all of these types an `i64` is a time (or a duration), a `u128` an owner, a `u16` a number
/// of failures, and a `u64` is far from the others if it is a nonce. The texts of records are hashed field by field.
pub struct View<'a, H> {
    hasher: &'a mut H,
    now: i64,
    /// how far back a time counts
    past: i64,
    owners: Known<u128>,
    nonces: Known<u64>,
    servers: Known<Vec<u8>>,
}

impl<'a, H: Hasher> View<'a, H> {
    pub fn new(hasher: &'a mut H, now: i64, past: i64) -> Self {
        Self { hasher, now, past, owners: Known::default(), nonces: Known::default(), servers: Known::default() }
    }

    /// A record's text: each field by its kind.
    fn record(&mut self, text: &[u8]) {
        for word in text.split(|byte| *byte == b' ') {
            let Some(end) = word.iter().position(|byte| *byte == b'=') else {
                self.hasher.write(word);
                continue;
            };
            let (name, value) = (&word[..end], &word[end + 1..]);
            let as_text = || std::str::from_utf8(value).expect("a text");
            match name {
                b"sum" => {}
                b"lo" | b"hi" | b"quiet" => self.write_i64(as_text().parse().expect("a time")),
                // With its name, because each of these may be left out.
                b"ended" | b"others" | b"lost" if value[0].is_ascii_digit() => {
                    self.hasher.write(name);
                    self.write_i64(as_text().parse().expect("a time"));
                }
                b"nonce" | b"lineage" => self.write_u64(u64::from_str_radix(as_text(), 16).expect("a nonce")),
                b"owner" => self.write_u128(u128::from_str_radix(as_text(), 16).unwrap_or_default()),
                _ => {
                    self.hasher.write(name);
                    self.write(value);
                }
            }
        }
    }
}

impl<H: Hasher> Hasher for View<'_, H> {
    fn finish(&self) -> u64 {
        self.hasher.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        if bytes.starts_with(RECORD) {
            self.record(bytes);
        } else if bytes.starts_with(SERVER.as_bytes()) {
            let place = self.servers.place(bytes.to_vec());
            self.hasher.write_usize(place);
        } else {
            self.hasher.write(bytes);
        }
    }

    fn write_i64(&mut self, number: i64) {
        let is_length = number < DAWN / 2 || number == i64::MAX;
        self.hasher.write_u8(u8::from(is_length));
        self.hasher.write_i64(if is_length { number } else { (number - self.now).max(-self.past) });
    }

    fn write_u16(&mut self, _failures: u16) {}

    fn write_u64(&mut self, number: u64) {
        let number = if number < NONCES { number } else { NONCES + self.nonces.place(number) as u64 };
        self.hasher.write_u64(number);
    }

    fn write_u128(&mut self, owner: u128) {
        let place = if owner == 0 { usize::MAX } else { self.owners.place(owner) };
        self.hasher.write_usize(place);
    }
}
