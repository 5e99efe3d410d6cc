//! One event: the time, random bits, the client's memory, and what to do after it.

use crate::hash::random;
use crate::lease::grants::record::ServerIdentity;
use crate::lease::grants::task::Swap;
use crate::lease::quorum::memory::Memory;
use crate::lease::quorum::messages::{Act, At, Bounds, Note};

/// What a step may use while it takes an event.
pub(super) struct Turn<'a> {
    pub group: &'a str,
    pub now: i64,
    pub bounds: Bounds,
    /// when the step has to end
    until: i64,
    pub memory: &'a mut Memory,
    fresh: u128,
    drawn: u64,
    acts: Vec<Act>,
    next_call: u32,
}

impl<'a> Turn<'a> {
    /// `began`: when the step did.
    pub(super) fn new(
        group: &'a str,
        at: At,
        (bounds, began): (Bounds, i64),
        memory: &'a mut Memory,
        next_call: u32,
    ) -> Self {
        let until = began.saturating_add(bounds.ms);
        Self { group, now: at.now, bounds, until, memory, fresh: at.fresh, drawn: 0, acts: Vec::new(), next_call }
    }

    /// What to do, and the number of the next call.
    pub(super) fn end(self) -> (Vec<Act>, u32) {
        (self.acts, self.next_call)
    }

    /// How many stores there are.
    pub(super) fn size(&self) -> usize {
        self.memory.stores().len()
    }

    /// Whether the step's time has ended.
    pub(super) fn is_late(&self) -> bool {
        self.now >= self.until
    }

    /// 64 new random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.drawn += 1;
        random((self.fresh >> 64) as u64, self.drawn) ^ random(self.fresh as u64, !self.drawn)
    }

    pub(super) fn read(&mut self, seat: usize, names: Vec<String>) -> u32 {
        let call = self.call();
        self.acts.push(Act::Read { call, seat, names });
        call
    }

    /// Swaps a record of a store, if that is still the one that was read.
    pub(super) fn swap(
        &mut self,
        (seat, identity): (usize, &ServerIdentity),
        name: &str,
        from: Option<&str>,
        to: String,
    ) -> u32 {
        let call = self.call();
        let swap = Swap { name: name.to_owned(), from: from.map(str::to_owned), to, identity: identity.clone() };
        self.acts.push(Act::Swap { call, seat, swap });
        call
    }

    pub(super) fn names(&mut self, seat: usize) -> u32 {
        let call = self.call();
        self.acts.push(Act::Names { call, seat });
        call
    }

    pub(super) fn wake(&mut self, ms: i64) -> u32 {
        let call = self.call();
        self.acts.push(Act::Wake { call, ms });
        call
    }

    /// A timer of random length, up to this, so that clients which met do not meet again.
    pub(super) fn pause(&mut self, most: i64) -> u32 {
        let range = most.max(0).unsigned_abs() + 1;
        let ms = (self.bits() % range).cast_signed();
        self.wake(ms)
    }

    pub(super) fn fill(&mut self, seat: usize) {
        self.acts.push(Act::Fill { seat });
    }

    pub(super) fn note(&mut self, note: Note) {
        self.acts.push(Act::Note(note));
    }

    fn call(&mut self) -> u32 {
        self.next_call += 1;
        self.next_call
    }
}
