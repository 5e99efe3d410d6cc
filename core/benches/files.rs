//! What cursors in files and slots cost: `cargo bench -p flakeforge-core --bench files`.

use divan::Bencher;
use flakeforge_core::files::group::FolderConfig;
use flakeforge_core::files::key_file::KeyFile;
use flakeforge_core::files::slots::SlotFolder;
use flakeforge_core::generator::clock::{Clock, TickClock};
use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::generator::registry::Key;
use flakeforge_core::generator::registry::Registry;
use flakeforge_core::generator::source::Source;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::Layout;
use tempfile::TempDir;

fn main() {
    divan::main();
}

fn flake() -> Layout {
    Layout::named("flake").expect("the table has it")
}

/// A generator that never has to wait, with a calibrated clock.
fn generator(source: impl Into<Source>) -> Generator {
    let layout = flake();
    let knobs =
        Knobs { seq_mask: layout.counter_max(), max_ahead_ms: f64::INFINITY, is_start_random: false, prefetch: None };
    let mut clock = TickClock::system(layout.scale());
    for _ in 0..2 {
        let _ = clock.read();
        std::thread::sleep(std::time::Duration::from_millis(15));
    }
    Generator::new(clock, source, &layout, layout.place_node(0), &knobs)
}

/// One ID from a cursor of this process, and one from a cursor in a file. Neither makes a system call.
#[divan::bench(sample_size = 1000)]
fn next_id_plain(bencher: Bencher) {
    let cursor =
        Registry::<KeyFile>::default().plain(Key::new(&flake(), flake().place_node(0))).expect("nobody else has it");
    let mut generator = generator(cursor);
    bencher.bench_local(|| generator.next_id());
}

#[divan::bench(sample_size = 1000)]
fn next_id_shared(bencher: Bencher) {
    let folder = temporary();
    let file = Registry::<KeyFile>::default()
        .shared(Key::new(&flake(), flake().place_node(0)), &folder.path().join("ids"))
        .expect("it is new");
    let mut generator = generator(file);
    generator.next_id().expect("the first one, which sets the mark");
    bencher.bench_local(|| generator.next_id());
}

/// Takes a slot and gives it back, while this many are taken.
#[divan::bench(args = [0, 60, 1000])]
fn acquire_and_release(bencher: Bencher, taken: u32) {
    let folder = temporary();
    let numbers = Numbers::new(flake().scale(), 12);
    let config = FolderConfig { fingerprint: "a benchmark".to_owned(), slots: 1024, numbers };
    let slots = SlotFolder::open(folder.path(), config).expect("it is new");
    let _held: Vec<_> = (0..taken).map(|_| slots.acquire(1, "bench").expect("there are more")).collect();
    bencher.bench_local(|| slots.acquire(2, "bench").expect("there are more").release(0));
}

fn temporary() -> TempDir {
    tempfile::tempdir().expect("there is room")
}
