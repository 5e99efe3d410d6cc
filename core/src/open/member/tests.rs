use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::*;
use crate::layout::Spec;
use crate::lease::grants::record::{GROUP, GroupRecord, SlotRecord, Stage, slot_name};

/// A store that members share, and whose clock only this test moves.
#[derive(Default)]
struct Shared {
    texts: HashMap<String, String>,
    /// how far its clock is ahead of the system's
    ahead_ms: i64,
    is_down: bool,
}

type Store = Rc<RefCell<Shared>>;

impl Records for Store {
    fn read(&mut self, names: &[String]) -> Result<Shown, Box<dyn Error + Send + Sync>> {
        let store = self.borrow();
        if store.is_down {
            return Err("no route".into());
        }
        let values = names.iter().map(|name| store.texts.get(name).cloned()).collect();
        Ok(Shown { now: whole_ms(system_ns()) + store.ahead_ms, server: server(), values })
    }

    fn swap(
        &mut self,
        name: &str,
        from: Option<&str>,
        to: &str,
        _: &ServerIdentity,
    ) -> Result<bool, Box<dyn Error + Send + Sync>> {
        let mut store = self.borrow_mut();
        let is_unchanged = store.texts.get(name).map(String::as_str) == from;
        if is_unchanged {
            store.texts.insert(name.to_owned(), to.to_owned());
        }
        Ok(is_unchanged)
    }
}

fn server() -> ServerIdentity {
    ServerIdentity { history: "one".to_owned(), process: "first".to_owned() }
}

/// Two nodes, and a registry key of this test alone: the registry is the whole process's.
fn layout(epoch_ms: i64) -> Layout {
    let fields = [("timestamp", 51), ("node", 1), ("counter", 12)];
    let fields = fields.map(|(name, width)| (name.to_owned(), width)).to_vec();
    Layout::custom(Spec { name: "mine".to_owned(), epoch_ms, tick_ns: 1_000_000, fields }).unwrap()
}

fn member(store: &Store, layout: &Layout) -> Member<Store> {
    Member::new(store.clone(), "orders", layout, 30_000)
}

/// A store with a group that is no longer quiet.
fn store(layout: &Layout) -> Store {
    let store = Store::default();
    let state = Stage::Live(member(&store, layout).config);
    let group = GroupRecord { state, life: 1, lineage: 5, identity: server(), nonce: 1, ..GroupRecord::default() };
    store.borrow_mut().texts.insert(GROUP.to_owned(), group.text());
    store
}

fn node_of(layout: &Layout, ids: &mut Generator) -> u64 {
    layout.unpack(ids.next_id().unwrap()).unwrap().node
}

#[test]
fn a_new_group_is_quiet_first_and_says_until_when() {
    let refusal = member(&Store::default(), &layout(1)).hold().unwrap_err();
    assert!(matches!(refusal, Refusal::Exhausted { retry_at_ms } if retry_at_ms > whole_ms(system_ns())), "{refusal}");
}

#[test]
fn each_member_has_a_node_of_its_own_until_it_leaves() {
    let layout = layout(2);
    let store = store(&layout);
    let [mut one, mut two, mut three] = [(); 3].map(|()| member(&store, &layout));
    let first = node_of(&layout, one.hold().unwrap());
    assert_eq!(first + node_of(&layout, two.hold().unwrap()), 1);
    assert!(matches!(three.hold(), Err(Refusal::Exhausted { .. })), "there are two");
    assert_eq!(node_of(&layout, one.hold().unwrap()), first, "it is renewed");
    one.leave().unwrap();
    assert!(one.ids().is_none());
    while matches!(three.hold(), Err(Refusal::Exhausted { .. })) {} // until the last ms that was used is over
    assert_eq!(node_of(&layout, three.ids().unwrap()), first);
}

#[test]
fn a_window_is_prolonged_and_outlives_a_store_that_fails() {
    let layout = layout(3);
    let store = store(&layout);
    let mut one = member(&store, &layout);
    one.hold().unwrap();
    let hi = |member: &Member<Store>| member.held.as_ref().unwrap().holding.hi;
    let before = hi(&one);
    store.borrow_mut().ahead_ms = 1000;
    one.hold().unwrap();
    assert!(hi(&one) >= before + 1000);
    store.borrow_mut().is_down = true;
    assert_eq!(one.hold().unwrap_err(), Refusal::Store("no route".to_owned()));
    assert!(one.ids().unwrap().next_id().is_ok());
}

#[test]
fn a_member_that_lost_its_slot_takes_another_one() {
    let layout = layout(4);
    let store = store(&layout);
    let mut one = member(&store, &layout);
    let first = node_of(&layout, one.hold().unwrap());
    let name = slot_name(first as u32);
    let stolen = SlotRecord { owner: Some(7), ..SlotRecord::parse(&store.borrow().texts[&name]).unwrap() };
    store.borrow_mut().texts.insert(name, stolen.text());
    assert_eq!(node_of(&layout, one.hold().unwrap()), 1 - first);
}

#[test]
fn a_node_that_this_process_uses_otherwise_is_given_back() {
    let layout = layout(5);
    let store = store(&layout);
    let others = [0, 1].map(|node| Generator::open(&layout, node).unwrap().next_id());
    assert!(others.iter().all(Result::is_ok));
    assert!(matches!(member(&store, &layout).hold(), Err(Refusal::Clash { .. })));
    let texts = &store.borrow().texts;
    assert!(texts.iter().filter(|(name, _)| *name != GROUP).all(|(_, text)| text.contains("owner=- ")), "{texts:?}");
}
