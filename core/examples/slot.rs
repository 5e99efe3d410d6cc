//! Processes of one machine that share a folder get a node number each, without a server:
//!
//!     cargo run -p flakeforge-core --example slot [FOLDER]
//!
//! Run it in several terminals at once, with the same folder: each process has another node. A process that ends,
//! however it ends, leaves its slot to the next one, which continues after the last ID.

use std::error::Error;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use flakeforge_core::files::group::FolderConfig;
use flakeforge_core::files::slots::SlotFolder;
use flakeforge_core::generator::clock::TickClock;
use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::generator::registry::Key;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::Layout;

fn main() -> Result<(), Box<dyn Error>> {
    let folder =
        std::env::args_os().nth(1).map_or_else(|| std::env::temp_dir().join("flakeforge-slots"), PathBuf::from);
    let layout = Layout::named("flake").ok_or("no such layout")?;
    // All members must agree on this: a folder that was made for something else is refused.
    let config = FolderConfig {
        fingerprint: Key::new(&layout, layout.place_node(0)).group_fingerprint(),
        slots: 1024,
        numbers: Numbers::of(&layout),
    };
    let slots = SlotFolder::open(&folder, config)?;
    let held = slots.acquire(u128::from(std::process::id()), "this host")?; // for people who list the slots
    let node = layout.place_node(held.slot().into());
    let clock = TickClock::system(layout.scale());
    let mut ids = Generator::new(clock, held.cursor(), &layout, node, &Knobs::of(&layout));

    println!("node {} of {}", held.slot(), folder.display());
    for _ in 0..10 {
        println!("{}", ids.next_id()?);
        sleep(Duration::from_millis(300));
    }
    Ok(())
}
