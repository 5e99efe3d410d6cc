//! A slot of a folder, with the generator of its node number.
//!
//! This file must never let go of the slot before its generator makes no more IDs.

use std::path::Path;

use crate::files::group::FolderConfig;
use crate::files::slots::{HeldSlot, SlotFolder};
use crate::generator::numbers::Numbers;
use crate::generator::registry::{Key, group_fingerprint};
use crate::generator::{Generator, Knobs};
use crate::layout::Layout;
use crate::open::attachment::Attachment;
use crate::open::process::{random, registry};
use crate::refusal::Refusal;

/// A node number that no other process of the machine has, until this is dropped or the process ends.
///
/// ```
/// # use flakeforge_core::{Layout, Refusal, Slot};
/// # let temp = tempfile::tempdir().unwrap();
/// # let folder = temp.path();
/// let layout = Layout::named("flake").expect("a layout of the table");
/// let (mut one, other) = (Slot::take(&layout, folder)?, Slot::take(&layout, folder)?);
/// assert_ne!(one.node(), other.node());
/// assert_eq!(layout.unpack(one.ids().next_id()?).map(|parts| parts.node), Some(one.node()));
/// # Ok::<(), Refusal>(())
/// ```
#[derive(Debug)]
pub struct Slot {
    // dropped in this order
    ids: Generator,
    _attachment: Attachment,
    held: HeldSlot,
}

impl Slot {
    /// Takes a slot of the group in a folder, which is created if there is none. There are as many slots as node numbers.
    pub fn take(layout: &Layout, folder: impl AsRef<Path>) -> Result<Self, Refusal> {
        let slots = u32::try_from(layout.node_max()).map_or(u32::MAX, |max| max.saturating_add(1));
        let config = FolderConfig { fingerprint: group_fingerprint(layout), slots, numbers: Numbers::of(layout) };
        let held = SlotFolder::open(folder, config)?.acquire(random(), "")?;
        let node = layout.place_node(held.slot().into());
        let hold = registry().lease(Key::new(layout, node))?;
        let cursor = held.cursor();
        let attachment = Attachment::on_file(layout, hold, cursor.clone());
        Ok(Self { ids: Generator::of(cursor, layout, node, &Knobs::of(layout)), _attachment: attachment, held })
    }

    /// Its number, which is the node number.
    pub fn node(&self) -> u64 {
        self.held.slot().into()
    }

    /// Its generator.
    pub fn ids(&mut self) -> &mut Generator {
        &mut self.ids
    }
}
