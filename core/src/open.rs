//! How a generator is opened: for a node number of one's own, on a file, on a slot of a folder, or in a group over a
//! database. It shares its numbers with all that could make the same IDs in this process.
//!
//! The lowest file comes first. A file uses only those above it in this table, and the rooms below.
//!
//! | file | its one idea |
//! |---|---|
//! | `process` | the registry of this process |
//! | `attachment` | what a leased generator has in addition to an ordinary one |
//! | `slot` | a slot of a folder, with its generator |
//! | `member` | a member of a group over a database, with its generator |

pub mod attachment;
#[cfg(feature = "lease")]
pub mod member;
pub mod process;
#[cfg(feature = "files")]
pub mod slot;

#[cfg(feature = "files")]
use std::path::Path;

use crate::generator::any_cursor::AnyCursor;
use crate::generator::clock::TickClock;
use crate::generator::registry::Key;
use crate::generator::{Generator, Knobs};
use crate::layout::{Layout, PlacedNode};
use crate::open::process::registry;
use crate::refusal::Refusal;

impl Generator {
    /// The generator of a node number. All that this process opens for it share their numbers.
    ///
    /// # Panics
    ///
    /// If the layout has no such node number: see [`node_max`](Layout::node_max).
    pub fn open(layout: &Layout, node: u64) -> Result<Self, Refusal> {
        let node = layout.place_node(node);
        let cursor = registry().plain(Key::new(layout, node))?;
        Ok(Self::of(cursor, layout, node, &Knobs::of(layout)))
    }

    /// The generator of a node number whose last ID a file remembers. All processes of a machine that open the file share
    /// their numbers. It is created if there is none.
    ///
    /// ```
    /// # use flakeforge_core::{Generator, Layout, Refusal};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("ids");
    /// let layout = Layout::named("flake").expect("a layout of the table");
    /// let last = Generator::open_file(&layout, 9, &path)?.next_id()?;
    /// assert!(Generator::open_file(&layout, 9, &path)?.next_id()? > last);
    /// assert!(matches!(Generator::open(&layout, 9), Err(Refusal::Clash { .. }))); // it would not know the file's numbers
    /// # Ok::<(), Refusal>(())
    /// ```
    ///
    /// # Panics
    ///
    /// As [`open`](Self::open).
    #[cfg(feature = "files")]
    pub fn open_file(layout: &Layout, node: u64, path: impl AsRef<Path>) -> Result<Self, Refusal> {
        let node = layout.place_node(node);
        let cursor = registry().shared(Key::new(layout, node), path.as_ref())?;
        Ok(Self::of(cursor, layout, node, &Knobs::of(layout)))
    }

    /// By the system's clock.
    pub(crate) fn of(cursor: impl Into<AnyCursor>, layout: &Layout, node: PlacedNode, knobs: &Knobs) -> Self {
        Self::new(TickClock::system(layout.scale()), cursor, layout, node, knobs)
    }
}
