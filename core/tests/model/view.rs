//! When the checker treats two states as the same: when everything that can follow is the same.
//!
//! - A time counts only by its distance from now. If it is long past, not even that counts. So runs need no end: a
//!   world that goes round in circles is recognised.
//! - For tokens, only which ones are equal counts, not their values. So they are numbered in the order in which they
//!   come.
//! - How often a member failed in a row only changes the length of a wait that is shorter than a step of time, so it
//!   does not count here.
//!
//! A hasher can do this because in all of these types an `i64` is a time (or a length of time), a `u128` a token, and
//! a `u16` a number of failures.

use std::hash::Hasher;

use flakeforge_core::lease::Owner;

use crate::world::{DAWN, UNIT};

/// Further back than any comparison looks, whichever clock is behind. If two slots have rested for longer than this,
/// either may be the one that has rested longest.
const LONG_PAST: i64 = 2 * UNIT;

/// A time as seen by clocks that move in whole steps: anything between two steps has come by the second one. Only the
/// last millisecond before a step is different, because a window may end there and the next one begin with the step.
fn seen(ms: i64) -> i64 {
    if ms.rem_euclid(UNIT) == UNIT - 1 { ms } else { -(-ms).div_euclid(UNIT) * UNIT }
}

pub struct View<'a, H> {
    hasher: &'a mut H,
    now: i64,
    tokens: Vec<Owner>,
}

impl<'a, H: Hasher> View<'a, H> {
    pub fn new(hasher: &'a mut H, now: i64) -> Self {
        Self { hasher, now, tokens: Vec::new() }
    }
}

impl<H: Hasher> Hasher for View<'_, H> {
    fn finish(&self) -> u64 {
        self.hasher.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.hasher.write(bytes);
    }

    fn write_i64(&mut self, number: i64) {
        let is_length = number < DAWN * UNIT / 2 || number == i64::MAX;
        self.hasher.write_u8(u8::from(is_length));
        self.hasher.write_i64(if is_length { number } else { (seen(number) - self.now).max(-LONG_PAST) });
    }

    fn write_u16(&mut self, _failures: u16) {}

    fn write_u128(&mut self, token: u128) {
        if token == 0 {
            return self.hasher.write_usize(usize::MAX); // there is none
        }
        let place = self.tokens.iter().position(|seen| *seen == token).unwrap_or_else(|| {
            self.tokens.push(token);
            self.tokens.len() - 1
        });
        self.hasher.write_usize(place);
    }
}
