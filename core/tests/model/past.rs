//! IDs of the past: members take numbers for moments that are over, end between a write of the store and its use, and start
//! again with nothing but the store. That a counter gives no number twice is checked in `counting.rs`.

use std::collections::{BTreeMap, BTreeSet};

use stateright::{Checker, Model, Property};

use flakeforge_core::lease::backfill::{Counter, Numbers, Take};

use crate::{ALL_GIVEN, explore};

/// Two moments of one span.
const MOMENTS: [u64; 2] = [0, 1];
/// Of a node: the lower half belongs to spans.
const OF_A_NODE: u64 = 2;
const TWICE: &str = "no number of a moment twice";

/// A run: members that keep this many nodes, and how often one may end.
struct Past {
    nodes: &'static [u64],
    ends: u8,
    takes: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Member {
    numbers: Numbers,
    /// what the store gave, before the member has used it
    given: Option<(Counter, u64, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    store: BTreeMap<Counter, u64>,
    members: Vec<Member>,
    used: BTreeSet<(u64, u64)>,
    is_twice: bool,
    ends: u8,
    takes: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    /// to a number, or to what the store gave
    Take(usize, u64),
    Use(usize),
    End(usize),
}

impl Past {
    fn member(&self, who: usize) -> Member {
        Member { numbers: Numbers::new(OF_A_NODE, self.nodes[who] * OF_A_NODE), given: None }
    }
}

impl Model for Past {
    type State = State;
    type Action = Doing;

    fn init_states(&self) -> Vec<State> {
        let members = (0..self.nodes.len()).map(|who| self.member(who)).collect();
        let (store, used) = (BTreeMap::new(), BTreeSet::new());
        vec![State { store, members, used, is_twice: false, ends: self.ends, takes: self.takes }]
    }

    fn actions(&self, state: &State, out: &mut Vec<Doing>) {
        for (who, member) in state.members.iter().enumerate() {
            match member.given {
                Some(_) => out.push(Doing::Use(who)),
                None if state.takes > 0 => out.extend(MOMENTS.map(|moment| Doing::Take(who, moment))),
                None => {}
            }
            if state.ends > 0 {
                out.push(Doing::End(who));
            }
        }
    }

    fn next_state(&self, before: &State, doing: Doing) -> Option<State> {
        let mut state = before.clone();
        match doing {
            Doing::Take(who, moment) => match state.members[who].numbers.take(moment) {
                Take::Number(number) => {
                    state.takes -= 1;
                    state.is_twice |= !state.used.insert((moment, number));
                }
                Take::Ask(counter, by) => {
                    let value = state.store.entry(counter).or_default();
                    state.members[who].given = Some((counter, *value, by));
                    *value += by;
                }
                Take::Full => return None,
            },
            Doing::Use(who) => {
                let (counter, first, by) = state.members[who].given.take()?;
                state.members[who].numbers.given(counter, first, by);
            }
            Doing::End(who) => {
                state.ends -= 1;
                state.members[who] = self.member(who);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(TWICE, |_, state: &State| !state.is_twice),
            Property::sometimes(ALL_GIVEN, |past: &Self, state: &State| {
                let all = past.nodes.iter().max().map_or(0, |nodes| nodes * OF_A_NODE);
                (0..all).all(|number| state.used.contains(&(MOMENTS[0], number)))
            }),
        ]
    }
}

#[test]
fn past_moments() {
    for (nodes, ends, takes) in [(&[2, 1][..], 1, 4), (&[1, 1], 2, 3), (&[1, 1, 1], 0, 3)] {
        explore(&format!("past nodes={nodes:?}"), Past { nodes, ends, takes }).assert_properties();
    }
}
