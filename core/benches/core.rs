//! The cost of each part of generating an ID: `cargo bench -p flakeforge-core`.

mod common;

use std::mem::size_of;

use common::{ENDLESS, Frozen, calibrate, flake, generator_of};
use divan::{Bencher, black_box, counter::ItemsCount};
use flakeforge_core::generator::clock::{Clock, TickClock, system_ns};
use flakeforge_core::generator::cursor::Cursor;
use flakeforge_core::generator::cycles;
use flakeforge_core::layout::Layout;
use flakeforge_core::layout::format::{Base, Text, id_digits};

fn main() {
    divan::main();
}

/// Only the loop that takes a number.
#[divan::bench]
fn claim(bencher: Bencher) {
    let cursor = Cursor::new(u64::MAX);
    bencher.bench_local(|| cursor.claim(1, black_box(&ENDLESS), &mut Frozen));
}

/// The same while other threads take numbers, too.
#[divan::bench(threads = [2])]
fn claim_contended(bencher: Bencher) {
    let cursor = Cursor::new(u64::MAX);
    bencher.bench(|| cursor.claim(1, black_box(&ENDLESS), &mut Frozen));
}

/// The cost of a tick: read from the system, trusted, and only the cycle counter.
#[divan::bench]
fn system_clock() -> i128 {
    system_ns()
}

#[divan::bench]
fn trusted_tick(bencher: Bencher) {
    let mut clock = TickClock::system(flake().scale());
    calibrate(&mut clock);
    bencher.bench_local(|| clock.trusted());
}

#[divan::bench]
fn cycle_counter() -> u64 {
    cycles::now()
}

#[divan::bench]
fn pack(bencher: Bencher) {
    let layout = flake();
    let node = layout.place_node(5);
    bencher.bench_local(|| black_box(layout.packing()).pack(black_box(12345 << 12), black_box(node)));
}

/// Everything together: one ID, and a block of them.
#[divan::bench]
fn next_id(bencher: Bencher) {
    let mut generator = generator_of(&flake());
    calibrate(&mut TickClock::system(flake().scale()));
    bencher.bench_local(|| generator.next_id());
}

#[divan::bench]
fn fill_4096(bencher: Bencher) {
    let mut generator = generator_of(&flake());
    let mut ids = vec![0; 4096];
    bencher.counter(ItemsCount::new(ids.len())).bench_local(|| generator.fill(black_box(&mut ids), |id| id));
}

/// A block of the layout with the most IDs in a tick.
#[divan::bench]
fn fill_65536_snowcast(bencher: Bencher) {
    let layout = Layout::named("snowcast").and_then(|layout| layout.with_nodes(128)).expect("it has this choice");
    let mut generator = generator_of(&layout);
    let mut ids = vec![0; 65_536];
    bencher.counter(ItemsCount::new(ids.len())).bench_local(|| generator.fill(black_box(&mut ids), |id| id));
}

#[divan::bench(args = Base::NAMES.map(|(name, _)| name))]
fn format_id(bencher: Bencher, base: &str) {
    let base = Base::named(base).expect("it is one of the names");
    let mut room = [0; size_of::<Text>()];
    bencher.bench_local(|| id_digits(black_box(7_529_535_382_561_648_640), base, &mut room).len());
}
