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

use flakeforge_core::{Layout, Slot};

fn main() -> Result<(), Box<dyn Error>> {
    let folder =
        std::env::args_os().nth(1).map_or_else(|| std::env::temp_dir().join("flakeforge-slots"), PathBuf::from);
    let layout = Layout::named("flake").ok_or("no such layout")?;
    let mut slot = Slot::take(&layout, &folder)?;
    println!("node {} of {}", slot.node(), folder.display());
    for _ in 0..10 {
        println!("{}", slot.ids().next_id()?);
        sleep(Duration::from_millis(300));
    }
    Ok(())
}
