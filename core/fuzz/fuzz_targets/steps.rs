//! Whatever a store answers, a step neither panics nor overflows, asks only for what it may, and grants only a window that a
//! record shows.

#![no_main]

use arbitrary::Arbitrary;
use flakeforge_core::lease::grants::memory::Memory;
use flakeforge_core::lease::grants::record::{
    COUNTER, CounterRecord, GROUP, GroupConfig, GroupRecord, ServerIdentity, SlotRecord, Stage, slot_of,
};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Ask, Look, Renewal, Seeker, Task};
use libfuzzer_sys::fuzz_target;

/// The number of slots: more than one read shows.
const SLOTS: u32 = 70;

/// A record, or any text instead of it.
#[derive(Arbitrary, Debug)]
enum Text {
    Absent,
    Any(String),
    GroupRecord {
        state: u8,
        life: u64,
        quiet_until: i64,
        ttl_ms: i64,
        skew_ms: i64,
        durable: bool,
        is_ours: bool,
    },
    SlotRecord {
        owner: Option<u8>,
        life: u64,
        lo: i64,
        hi: i64,
        host: String,
    },
    CounterRecord {
        value: u64,
        is_lost: bool,
        is_destroyed: bool,
        life: u64,
        lineage: u64,
        is_settled: bool,
        durable: bool,
    },
}

/// An answer of the store.
#[derive(Arbitrary, Debug)]
struct Answered {
    now: i64,
    history: bool,
    process: bool,
    position: Option<u64>,
    client: (i64, i64),
    texts: Vec<Text>,
    is_done: bool,
    fresh: u128,
    names: Vec<String>,
}

#[derive(Arbitrary, Debug)]
struct Input {
    task: u8,
    numbers: (u64, Option<u64>, i64),
    durable: bool,
    answers: Vec<Answered>,
}

fuzz_target!(|input: Input| {
    let config = GroupConfig {
        fingerprint: "f".to_owned(),
        slots: SLOTS,
        ttl_ms: 30_000,
        skew_ms: 5_000,
        durable: input.durable,
    };
    let mut memory = Memory::default();
    let task = task(&input, &config);
    let is_grant = matches!(task, Task::Join(..) | Task::Acquire(..) | Task::Renew(..));
    let (mut step, mut ask) = Step::new("g", task, &memory, 0);
    for answered in &input.answers {
        let fresh = answered.fresh;
        let mut shown = Vec::new();
        ask = match ask {
            Ask::Read(names) => {
                let look = look(&names, answered, &config);
                shown = look.values.clone();
                step.read(look, &mut memory, fresh)
            }
            Ask::Swap(swap) => {
                is_a_record(&swap.name, &swap.to);
                step.swapped(answered.is_done, &mut memory, fresh)
            }
            Ask::Names => step.named(answered.names.clone(), &memory, fresh),
            Ask::Done(_) => return,
        };
        if let Ask::Done(Answer::Granted(granted)) = &ask {
            let shows = |text: &String| {
                SlotRecord::parse(text).is_ok_and(|slot| (slot.lo, slot.hi) == (granted.lo, granted.hi))
            };
            assert!(is_grant && granted.slot < SLOTS && shown.iter().flatten().any(shows), "{granted:?}");
        }
    }
});

fn task(input: &Input, config: &GroupConfig) -> Task {
    let (config, (by, init, hi)) = (config.clone(), input.numbers);
    let seeker = Seeker { owner: 1, host: "h".to_owned() };
    match input.task % 14 {
        0 | 1 => Task::Create(config),
        2 => Task::Join(config, seeker),
        3 => Task::Acquire(config, seeker),
        4 => Task::Renew(config, Renewal { owner: 1, slot: 3, hi }),
        5 => Task::Release { config, owner: 1, slot: 3, last: hi },
        6 => Task::Destroy,
        7 => Task::List,
        8 => Task::Advance { by, init, durable: input.durable },
        9 => Task::Past { record: "moment1".to_owned(), by, lineage: init.unwrap_or_default() },
        10 => Task::Used { slots: vec![3, 5], lineage: init.unwrap_or_default() },
        11 => Task::Counter,
        12 => Task::DestroyCounter,
        _ => Task::SkipTo { place: by, durable: input.durable },
    }
}

fn look(names: &[String], answered: &Answered, config: &GroupConfig) -> Look {
    let text =
        |place: usize| answered.texts.get(place % answered.texts.len().max(1)).and_then(|text| write(text, config));
    let values = (0..names.len()).map(text).collect();
    let part = |is: bool| if is { "a" } else { "" }.to_owned();
    let identity = ServerIdentity { history: part(answered.history), process: part(answered.process) };
    let Answered { now, position, client, .. } = *answered;
    Look { now, identity, values, position, client }
}

fn write(text: &Text, config: &GroupConfig) -> Option<String> {
    let identity = ServerIdentity { history: "a".to_owned(), process: "a".to_owned() };
    Some(match text {
        Text::Absent => return None,
        Text::Any(text) => text.clone(),
        Text::GroupRecord { state, life, quiet_until, ttl_ms, skew_ms, durable, is_ours } => {
            let other = GroupConfig { ttl_ms: *ttl_ms, skew_ms: *skew_ms, durable: *durable, ..config.clone() };
            let config = if *is_ours { config.clone() } else { other };
            let fingerprint = if *is_ours { config.fingerprint.clone() } else { String::new() };
            let state = match state % 4 {
                0 => Stage::Unknown,
                1 => Stage::Live(config),
                2 => Stage::Ending(config),
                _ => Stage::Destroyed { durable: *durable, fingerprint },
            };
            GroupRecord {
                state,
                life: *life,
                quiet_until: *quiet_until,
                ended: *quiet_until,
                lineage: 1,
                identity,
                nonce: 1,
                ..GroupRecord::default()
            }
            .text()
        }
        Text::SlotRecord { owner, life, lo, hi, host } => {
            let owner = owner.map(u128::from);
            SlotRecord { owner, life: *life, lo: *lo, hi: *hi, host: host.clone(), nonce: 1 }.text()
        }
        Text::CounterRecord { value, is_lost, is_destroyed, life, lineage, is_settled, durable } => {
            let (is_lost, is_settled, durable) = (*is_lost, *is_settled, *durable);
            CounterRecord {
                value: *value,
                is_lost,
                is_destroyed: !is_lost && *is_destroyed,
                life: *life,
                lineage: *lineage,
                is_settled,
                durable,
                identity,
                nonce: 1,
            }
            .text()
        }
    })
}

/// What is written can be read again.
fn is_a_record(name: &str, text: &str) {
    let is_one = match name {
        GROUP => GroupRecord::parse(text).is_ok(),
        COUNTER => CounterRecord::parse(text).is_ok(),
        _ => slot_of(name).is_some_and(|slot| slot < SLOTS) && SlotRecord::parse(text).is_ok(),
    };
    assert!(is_one, "{name}: {text}");
}
