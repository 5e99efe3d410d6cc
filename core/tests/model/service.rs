//! Requests on their way, and the store's answers to them.

use flakeforge_core::grants::{Config, Member, Refused, Renewal, Store};
use flakeforge_core::lease::{Asked as Request, Event, Failure, Grant, Owner};

use crate::faults::{Asked, live};
use crate::rules::Rules;
use crate::world::GROUP;

/// A request on its way to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// a new process opens the group first
    Acquire {
        owner: Owner,
        client_now: i64,
        joins: bool,
    },
    Renew {
        owner: Owner,
        slot: u32,
        client_now: i64,
    },
    Release {
        owner: Owner,
        slot: u32,
        last: i64,
    },
}

impl Message {
    pub fn asked(self) -> Request {
        match self {
            Self::Acquire { .. } => Request::Acquire,
            Self::Renew { .. } => Request::Renew,
            Self::Release { .. } => Request::Release,
        }
    }

    pub fn owner(self) -> Owner {
        match self {
            Self::Acquire { owner, .. } | Self::Renew { owner, .. } | Self::Release { owner, .. } => owner,
        }
    }
}

/// The store does what a message says, and answers.
pub fn serve(store: &mut Store, now: i64, rules: &Rules, message: Message) -> Event {
    let (asked, owner) = (message.asked(), message.owner());
    let failed = |failure| Event::Failed { asked, owner, failure };
    let refused = |refused| match refused {
        Refused::Quiet { until } => failed(Failure::Quiet { until, store_now: now }),
        Refused::Exhausted { retry_at } => failed(Failure::Exhausted { retry_at, store_now: now }),
        Refused::Mismatch(_) => failed(Failure::Fatal),
        Refused::Skew { .. } => failed(Failure::Skew),
        Refused::Destroyed => Event::Destroyed { asked, owner },
    };
    let config = rules.config();
    match message {
        Message::Acquire { client_now, joins, .. } => {
            if joins {
                open(store, now, rules, &config);
            }
            let asks = Member { owner, host: "", client_now };
            let acquired = rules
                .fault
                .step(store, now, Asked::Acquire(owner), |store| store.step(now, GROUP, &config).acquire(asks));
            acquired.map_or_else(refused, |granted| {
                let (lo, hi) = recorded(store, granted.slot);
                Event::Granted(Grant { owner, slot: granted.slot, lo, hi })
            })
        }
        Message::Renew { slot, client_now, .. } => {
            let renewed = rules.fault.step(store, now, Asked::Renew(&config, slot), |store| {
                store.step(now, GROUP, &config).renew(slot, owner, client_now)
            });
            match renewed {
                Ok(Renewal::Renewed(granted)) => {
                    let (lo, hi) = recorded(store, granted.slot);
                    Event::Renewed { owner, lo, hi }
                }
                Ok(Renewal::Lost) => Event::Lost { owner },
                Ok(Renewal::Destroyed) => Event::Destroyed { asked, owner },
                Err(error) => refused(error),
            }
        }
        Message::Release { slot, last, .. } => {
            let released = rules.fault.step(store, now, Asked::Release(slot, owner, last), |store| {
                store.step(now, GROUP, &config).release(slot, owner, last)
            });
            released.map_or_else(refused, |()| Event::Released { owner })
        }
    }
}

fn open(store: &mut Store, now: i64, rules: &Rules, config: &Config) {
    let opened = rules.fault.step(store, now, Asked::Open, |store| {
        let at = store.step(now, GROUP, config);
        if rules.fault.creates() { at.create() } else { at.open() }
    });
    opened.expect("every member has the same config");
}

/// The window in the record. This is the reference's answer, unless a fault changed the record afterwards.
fn recorded(store: &mut Store, slot: u32) -> (i64, i64) {
    live(store).and_then(|group| group.slots.get(&slot)).map_or((0, -1), |slot| (slot.lo, slot.hi))
}
