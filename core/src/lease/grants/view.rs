//! The result of one read of a group, as records. An unreadable record stays visible, and its reader decides what to do.

use crate::lease::grants::record::{GroupRecord, ServerIdentity, SlotRecord, Stage, Unreadable, slot_name};
use crate::lease::grants::task::StepError;

/// The result of the last read, as records.
pub(super) struct View {
    pub now: i64,
    pub identity: ServerIdentity,
    pub client: (i64, i64),
    /// the texts as they were read, by name
    pub texts: Vec<(String, Option<String>)>,
    pub group: Option<GroupRecord>,
    pub slots: Vec<(u32, Option<Result<SlotRecord, Unreadable>>)>,
    /// whether this client saw the store go back, which the record does not note yet
    pub is_lost: bool,
    pub fresh: u128,
}

/// The error for a step that met a slot record of a newer version, which alone knows what the group's members may be given.
pub(super) fn refusal(view: &View) -> Option<StepError> {
    view.slots.iter().find_map(|(slot, record)| match record {
        Some(Err(why @ Unreadable::Newer { .. })) => Some(StepError::Record(slot_name(*slot), *why)),
        _ => None,
    })
}

/// The record of a member's group, if the store shows it and it is alive. Another record of this name tells nothing about IDs of
/// the past in the member's group.
pub(super) fn own_group(shown: Option<&GroupRecord>, lineage: u64) -> Result<&GroupRecord, StepError> {
    let group = shown.ok_or(StepError::Absent)?;
    match group.state {
        _ if group.lineage != lineage => Err(StepError::OtherGroup),
        Stage::Live(_) => Ok(group),
        _ => Err(StepError::Destroyed),
    }
}

/// The slots that have a record.
pub(super) fn readable(view: &View) -> impl Iterator<Item = (u32, &SlotRecord)> {
    view.slots.iter().filter_map(|(slot, record)| Some((*slot, record.as_ref()?.as_ref().ok()?)))
}
