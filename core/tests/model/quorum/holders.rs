//! A member that holds a slot: the real steps of [`grants`](flakeforge_core::lease::grants) over the whole. What it may use is
//! recorded, and no two acquisitions may use the same ms of a slot.

use std::collections::BTreeMap;

use flakeforge_core::lease::grants::memory::{Limits, Memory};
use flakeforge_core::lease::grants::record::GroupConfig;
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, Renewal, Seeker, Task};

pub const SKEW_MS: i64 = 400;
const TTL_MS: i64 = 2_000;
const SLOTS: u32 = 2;

/// A window that an acquisition may use, both ends included.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    slot: u32,
    lo: i64,
    hi: i64,
}

/// The windows of all acquisitions of all members, by owner.
pub type Claims = BTreeMap<u128, Vec<Claim>>;

pub struct Holder {
    memory: Memory,
    owner: u128,
    /// whether it holds a slot, as far as it knows
    is_held: bool,
    step: Option<Step>,
}

impl Holder {
    pub fn new() -> Self {
        let limits =
            Limits { longest_ttl_ms: TTL_MS, usual_skew_ms: SKEW_MS, create_within_ms: 1_000, most_returns: 2 };
        Self { memory: Memory::with_limits(limits), owner: 0, is_held: false, step: None }
    }

    /// Begins the next step: to get a slot, to renew it, or (`gives_back`) to release it.
    pub fn begin(&mut self, fresh: u128, used: i64, gives_back: bool, claims: &mut Claims) -> Ask {
        let config = GroupConfig {
            fingerprint: "one".to_owned(),
            slots: SLOTS,
            ttl_ms: TTL_MS,
            skew_ms: SKEW_MS,
            durable: false,
        };
        let windows = claims.entry(self.owner).or_default();
        let claim = windows.last().copied().filter(|_| self.is_held);
        let task = match claim {
            None => {
                self.owner = fresh;
                Task::Join(config, Seeker { owner: fresh, host: "host".to_owned() })
            }
            Some(Claim { slot, lo, hi }) if gives_back => {
                // It used nothing after this, and never will.
                let last = used.clamp(lo - 1, hi);
                windows.iter_mut().for_each(|claim| claim.hi = claim.hi.min(last));
                self.is_held = false;
                Task::Release { config, owner: self.owner, slot, last }
            }
            Some(Claim { slot, hi, .. }) => Task::Renew(config, Renewal { owner: self.owner, slot, hi }),
        };
        let (step, ask) = Step::new("g", task, &self.memory, fresh);
        self.step = Some(step);
        ask
    }

    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Passes something to the step.
    pub fn pass(&mut self, pass: impl FnOnce(&mut Step, &mut Memory) -> Ask) -> Option<Ask> {
        Some(pass(self.step.as_mut()?, &mut self.memory))
    }

    /// The step has ended with this answer. Returns whether it granted or renewed something.
    pub fn done(&mut self, answer: &Answer, claims: &mut Claims) -> Option<bool> {
        self.step = None;
        match answer {
            Answer::Granted(Granted { slot, lo, hi, .. }) => {
                let is_new = !self.is_held;
                self.is_held = true;
                let windows = claims.entry(self.owner).or_default();
                match windows.last_mut() {
                    Some(last) if (last.lo..=last.hi + 1).contains(lo) => last.hi = last.hi.max(*hi),
                    _ => windows.push(Claim { slot: *slot, lo: *lo, hi: *hi }),
                }
                Some(is_new)
            }
            Answer::Lost | Answer::Destroyed => {
                self.is_held = false;
                None
            }
            _ => None,
        }
    }

    /// The step is given up; a slot may be forgotten with it.
    pub fn give_up(&mut self, forgets: bool) {
        self.step = None;
        self.is_held &= !forgets;
    }
}

/// No two acquisitions share a ms of a slot.
pub fn check(claims: &Claims) -> Result<(), String> {
    let all = claims.iter().flat_map(|(owner, windows)| windows.iter().map(move |claim| (owner, claim)));
    let mut sorted: Vec<_> = all.filter(|(_, claim)| claim.lo <= claim.hi).collect();
    sorted.sort_by_key(|(_, claim)| (claim.slot, claim.lo));
    let overlaps = |two: &&[(&u128, &Claim)]| {
        let ((earlier, first), (later, second)) = (two[0], two[1]);
        earlier != later && first.slot == second.slot && second.lo <= first.hi
    };
    let overlap = sorted.windows(2).find(overlaps);
    overlap.map_or(Ok(()), |two| Err(format!("two holders of a slot: {:?} and {:?}", two[0], two[1])))
}
