//! A member of the group, as the world sees it: a process with a lease, a cursor, and messages on their way.

use flakeforge_core::lease::{Asked, Event, Lease, Owner};

use crate::points::Points;
use crate::service::Message;

/// A cursor and what it may have given, or what the store promised but the member does not know yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    pub slot: u32,
    pub first: i64,
    pub limit: i64,
    pub points: Points,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    pub lease: Lease,
    /// how far its clock is ahead, in steps
    pub ahead: i64,
    pub wait: Option<i64>,
    pub cursor: Option<Window>,
    pub promised: Option<Window>,
    /// its last token; 0 if it had none yet
    pub token: Owner,
    /// it is a new process, which opens the group first
    pub joins: bool,
    /// somebody called `attach`
    pub wanted: bool,
    pub request: Option<Message>,
    pub reply: Option<Event>,
    /// the request or its answer is late
    pub is_late: bool,
    /// a request whose answer nobody waits for
    pub given_up: Option<Message>,
    /// another generator of the process takes the node number of the next slot before it is opened
    pub is_in_use: bool,
    /// tokens of slots that were set aside
    pub aside: Vec<Owner>,
}

impl Member {
    pub fn new(lease: Lease, ahead: i64) -> Self {
        Self {
            lease,
            ahead,
            wait: None,
            cursor: None,
            promised: None,
            token: 0,
            joins: true,
            wanted: false,
            request: None,
            reply: None,
            is_late: false,
            given_up: None,
            is_in_use: false,
            aside: Vec::new(),
        }
    }

    pub fn knows(&self, token: Owner) -> bool {
        let messages = [self.request, self.given_up].into_iter().flatten();
        self.token == token || self.aside.contains(&token) || messages.map(Message::owner).any(|owner| owner == token)
    }

    /// Whether an acquisition or its answer is still on its way. If so, an `attach` uses it.
    pub fn is_acquiring(&self) -> bool {
        let is_asked = matches!(self.request, Some(Message::Acquire { .. }));
        is_asked || self.reply.is_some_and(|reply| !matches!(reply, Event::Released { .. }))
    }

    /// What the current request asks for.
    pub fn asked(&self) -> Option<Asked> {
        let answered = |reply| match reply {
            Event::Granted(_) => Some(Asked::Acquire),
            Event::Renewed { .. } | Event::Lost { .. } => Some(Asked::Renew),
            Event::Released { .. } => Some(Asked::Release),
            Event::Failed { asked, .. } | Event::Destroyed { asked, .. } => Some(asked),
            _ => None,
        };
        self.request.map(Message::asked).or_else(|| self.reply.and_then(answered))
    }

    /// Stops waiting for the current request, which may still arrive.
    pub fn give_up(&mut self) {
        self.given_up = self.request.take().or(self.given_up);
        (self.reply, self.is_late) = (None, false);
    }

    /// Gives back a slot that was set aside. Nobody waits for the answer.
    pub fn give_back(&mut self, owner: Owner, slot: u32) {
        self.aside.retain(|token| *token != owner);
        self.given_up = Some(Message::Release { slot, owner, last: -1 });
    }
}
