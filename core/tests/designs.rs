//! Why a window and not a deadline: three ways to hold a slot, in one small world where members may pause at any point.
//!
//! - **deadline**: a holder makes IDs until its own clock has passed the end of its lease;
//! - **heartbeat**: a holder makes IDs until a heartbeat is refused;
//! - **window**: a holder makes IDs whose own time lies in the window that the store granted.
//!
//! The checker finds the duplicate of the first two, and none of the third. Clocks agree perfectly here: a pause between
//! looking and making is enough.

#![cfg(not(loom))]

use stateright::{Checker, Model, Property};

const MEMBERS: usize = 2;
const TTL: u8 = 2;
const LAST: u8 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Design {
    Deadline,
    Heartbeat,
    Window,
}

/// What a member believes to hold: the first and the last moment of it.
type Belief = Option<(u8, u8)>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Member {
    holds: Belief,
    /// it has looked, and found that it may make an ID; it has not made it yet
    looked: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct World {
    now: u8,
    /// what the store knows: who holds the slot, and until when
    owner: Option<(usize, u8)>,
    members: [Member; MEMBERS],
    /// who made an ID in each moment
    makers: [[bool; MEMBERS]; LAST as usize + 1],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Tick,
    /// asks the store for the slot, or to prolong it
    Ask(usize),
    Look(usize),
    Make(usize),
}

impl Model for Design {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World::default()]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        if world.now < LAST {
            steps.push(Step::Tick);
        }
        for (i, member) in world.members.iter().enumerate() {
            steps.push(Step::Ask(i));
            steps.push(if member.looked { Step::Make(i) } else { Step::Look(i) });
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut world = world.clone();
        let now = world.now;
        match step {
            Step::Tick => world.now += 1,
            Step::Ask(i) => world.members[i].holds = world.ask(i),
            Step::Look(i) => {
                let member = &mut world.members[i];
                member.looked = match self {
                    Self::Deadline => member.holds.is_some_and(|(_, end)| now <= end),
                    Self::Heartbeat | Self::Window => member.holds.is_some(),
                };
            }
            Step::Make(i) => {
                let member = &mut world.members[i];
                member.looked = false;
                let in_window = member.holds.is_some_and(|(start, end)| (start..=end).contains(&now));
                world.makers[now as usize][i] |= *self != Self::Window || in_window;
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let both =
            |_: &Self, world: &World| (0..MEMBERS).all(|member| world.makers.iter().any(|makers| makers[member]));
        vec![
            Property::always("no number twice", |_, world: &World| {
                world.makers.iter().all(|makers| makers.iter().filter(|made| **made).count() < 2)
            }),
            Property::sometimes("both make IDs", both),
        ]
    }
}

impl World {
    /// The store's answer, with the window where it is a new one.
    fn ask(&mut self, member: usize) -> Belief {
        let start = match self.owner {
            Some((owner, _)) if owner == member => self.members[member].holds.map_or(self.now, |(start, _)| start),
            Some((_, end)) if end >= self.now => return None,
            _ => self.now,
        };
        let end = self.now + TTL;
        self.owner = Some((member, end));
        Some((start, end))
    }
}

/// Whether the checker found a duplicate in a design.
fn has_duplicate(design: Design) -> bool {
    let checker = design.checker().spawn_bfs().join();
    let discoveries = checker.discoveries();
    assert!(discoveries.contains_key("both make IDs"), "{design:?} proves nothing");
    discoveries.contains_key("no number twice")
}

#[test]
fn a_lease_that_goes_by_a_deadline_makes_duplicates() {
    assert!(has_duplicate(Design::Deadline));
}

#[test]
fn a_lease_that_goes_by_a_heartbeat_makes_duplicates() {
    assert!(has_duplicate(Design::Heartbeat));
}

#[test]
fn a_window_makes_none() {
    assert!(!has_duplicate(Design::Window));
}
