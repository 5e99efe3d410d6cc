//! What one read showed of a group, as records.
//!
//! This file must never hide a record that cannot be read: who looks at it decides.

use crate::lease::grants::record::{GroupRecord, ServerIdentity, SlotRecord, Unreadable, slot_name};
use crate::lease::grants::task::StepError;

/// What the last read showed, as records.
pub(super) struct View {
    pub now: i64,
    pub identity: ServerIdentity,
    pub client: (i64, i64),
    /// the texts as they were read, by name
    pub texts: Vec<(String, Option<String>)>,
    pub group: Option<GroupRecord>,
    pub slots: Vec<(u32, Option<Result<SlotRecord, Unreadable>>)>,
    /// whether this client saw the store go back, and the record does not say so yet
    pub is_lost: bool,
    pub fresh: u128,
}

/// The error for a step that met a slot's record of a newer version. What its group may be given by now, only that knows.
pub(super) fn refusal(view: &View) -> Option<StepError> {
    view.slots.iter().find_map(|(slot, record)| match record {
        Some(Err(why @ Unreadable::Newer { .. })) => Some(StepError::Record(slot_name(*slot), *why)),
        _ => None,
    })
}

/// The slots that have a record.
pub(super) fn readable(view: &View) -> impl Iterator<Item = (u32, &SlotRecord)> {
    view.slots.iter().filter_map(|(slot, record)| Some((*slot, record.as_ref()?.as_ref().ok()?)))
}
