//! The cursor, the registry, the mark and the presence words under every interleaving of a few threads: `RUSTFLAGS="--cfg
//! flakeforge_loom" cargo test --package flakeforge-core-loom --target-dir target/loom`.

#[cfg(all(flakeforge_loom, test))]
mod tests {
    use flakeforge_core::files::mark::Mark;
    use flakeforge_core::files::presence::Presence;
    use flakeforge_core::generator::clock::Clock;
    use flakeforge_core::generator::cursor::{Cursor, Refused, Rule, Start};
    use flakeforge_core::generator::lane::Lane;
    use flakeforge_core::generator::registry::{Key, Registry};
    use flakeforge_core::layout::Layout;
    use flakeforge_core::layout::packing::Stride;
    use flakeforge_core::layout::timescale::OutOfRange;
    use loom::sync::Arc;
    use loom::sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Relaxed, SeqCst},
        fence,
    };
    use loom::thread;

    /// A clock with a trusted tick and a later real one.
    #[derive(Clone, Copy)]
    struct Shown(u64, u64);

    impl Clock for Shown {
        fn trusted(&mut self) -> Result<u64, OutOfRange> {
            Ok(self.0)
        }
        fn read(&mut self) -> Result<u64, OutOfRange> {
            Ok(self.1)
        }
    }

    /// Two numbers per tick, so that threads meet at the end of a tick.
    const RULE: Rule = Rule { counter_bits: 1, seq_mask: 1, max_ahead: 1, start: Start::ZERO, last: u64::MAX };

    /// Claims `n` numbers twice and returns the results in order.
    fn twice(cursor: &Cursor, n: u64, rule: Rule, mut clock: Shown) -> Vec<u64> {
        let mut numbers = Vec::new();
        for _ in 0..2 {
            if let Ok(claim) = cursor.claim(n, &rule, &mut clock) {
                numbers.extend(claim.base..claim.base + claim.got);
            }
        }
        assert!(numbers.is_sorted_by(|a, b| a < b), "a thread's numbers are in order: {numbers:?}");
        numbers
    }

    /// Claims a number, and takes those of the lane after it, twice; returns the numbers in order. The lane ends with the tick
    /// if the span is 1.
    fn by_lane(span: u64, cursor: &Cursor, rule: Rule, mut clock: Shown) -> Vec<u64> {
        let mut numbers = Vec::new();
        for _ in 0..2 {
            let Ok(claim) = cursor.claim(1, &rule, &mut clock) else { continue };
            numbers.push(claim.base);
            let lane = Lane::after(claim, claim.base, Stride { step: 1, span }, cursor, &rule, clock.0);
            while let Some((number, id)) = lane.take(cursor, numbers.last().map_or(0, |last| last + 1)) {
                assert_eq!(number, id);
                numbers.push(number);
            }
        }
        assert!(numbers.is_sorted_by(|a, b| a < b), "a thread's numbers are in order: {numbers:?}");
        numbers
    }

    fn assert_distinct(mut numbers: Vec<u64>) {
        numbers.sort_unstable();
        assert!(numbers.is_sorted_by(|a, b| a < b), "taken twice: {numbers:?}");
    }

    #[test]
    fn no_number_is_taken_twice() {
        loom::model(|| {
            let cursor = Arc::new(Cursor::new(u64::MAX));
            let other = cursor.clone();
            // The other thread's clock is one tick behind: it was stepped back, or trusted too long.
            let thread = thread::spawn(move || twice(&other, 2, RULE, Shown(4, 4)));
            let mut numbers = twice(&cursor, 3, RULE, Shown(4, 5));
            numbers.extend(thread.join().unwrap());
            assert_distinct(numbers);
        });
    }

    #[test]
    fn no_number_of_a_lane_is_taken_twice() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(4);
        model.check(|| {
            let cursor = Arc::new(Cursor::new(u64::MAX));
            let other = cursor.clone();
            let thread = thread::spawn(move || by_lane(1, &other, RULE, Shown(4, 4)));
            let mut numbers = by_lane(u64::MAX, &cursor, RULE, Shown(4, 5));
            numbers.extend(thread.join().unwrap());
            assert_distinct(numbers);
        });
    }

    #[test]
    fn a_lane_gives_nothing_after_the_seal_or_outside_its_window() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(4);
        model.check(|| {
            let cursor = Arc::new(Cursor::window(8, 8));
            let other = cursor.clone();
            let thread = thread::spawn(move || by_lane(u64::MAX, &other, RULE, Shown(4, 4)));
            cursor.raise_next(9);
            cursor.raise_next(11);
            cursor.raise_limit(11);
            let free = cursor.retire();
            for number in thread.join().unwrap() {
                assert!(number < free && [8, 11].contains(&number), "{number}, and the retired cursor said {free}");
            }
        });
    }

    #[test]
    fn three_threads() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let cursor = Arc::new(Cursor::new(u64::MAX));
            let threads: Vec<_> = (0..2)
                .map(|i| {
                    let cursor = cursor.clone();
                    thread::spawn(move || twice(&cursor, 1 + i, RULE, Shown(4, 4 + i)))
                })
                .collect();
            let half = Rule { seq_mask: 0, ..RULE };
            let mut numbers = twice(&cursor, 1, half, Shown(4, 5));
            numbers.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
            assert_distinct(numbers);
        });
    }

    #[test]
    fn nothing_is_taken_after_the_seal() {
        loom::model(|| {
            let cursor = Arc::new(Cursor::new(u64::MAX));
            let other = cursor.clone();
            let thread = thread::spawn(move || twice(&other, 2, RULE, Shown(4, 5)));
            let free = cursor.retire();
            assert_eq!(cursor.claim(1, &RULE, &mut Shown(4, 5)), Err(Refused::PastLimit));
            for number in thread.join().unwrap() {
                assert!(number < free, "{number} was taken after the retired cursor said {free}");
            }
        });
    }

    #[test]
    fn nothing_is_taken_past_a_limit_that_rises() {
        loom::model(|| {
            let cursor = Arc::new(Cursor::new(8));
            let other = cursor.clone();
            let thread = thread::spawn(move || twice(&other, 3, RULE, Shown(4, 5)));
            cursor.raise_limit(9);
            cursor.raise_limit(7);
            let mut numbers = twice(&cursor, 3, RULE, Shown(4, 5));
            numbers.extend(thread.join().unwrap());
            assert!(numbers.iter().all(|&number| number <= 9), "past the limit: {numbers:?}");
            assert_distinct(numbers);
        });
    }

    #[test]
    fn nothing_is_taken_between_two_windows() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(4);
        model.check(|| {
            let cursor = Arc::new(Cursor::window(8, 9));
            let threads: Vec<_> = (0..2)
                .map(|i| {
                    let cursor = cursor.clone();
                    thread::spawn(move || twice(&cursor, 1 + i, RULE, Shown(4, 4 + i)))
                })
                .collect();
            cursor.raise_next(11);
            cursor.raise_limit(11);
            let mut numbers: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            numbers.extend(twice(&cursor, 3, RULE, Shown(4, 5)));
            assert!(numbers.iter().all(|number| [8, 9, 11].contains(number)), "outside the windows: {numbers:?}");
            assert_distinct(numbers);
        });
    }

    fn key() -> Key {
        let flake = Layout::named("flake").unwrap();
        Key::new(&flake, flake.place_node(1))
    }

    #[test]
    fn a_key_is_free_above_all_numbers_of_its_leases() {
        loom::model(|| {
            let registry = Registry::<&str>::default();
            let [one, other] = [(); 2].map(|()| registry.lease(key()).unwrap());
            let thread = thread::spawn(move || one.end(100));
            other.end(50);
            if let Ok(cursor) = registry.plain(key()) {
                assert_eq!(cursor.next(), 101);
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn a_key_that_gave_a_number_is_not_free() {
        loom::model(|| {
            let registry = Registry::<&str>::default();
            let cursor = registry.plain(key()).unwrap();
            let thread = thread::spawn(move || cursor.claim(1, &RULE, &mut Shown(4, 4)).unwrap());
            assert!(registry.lease(key()).is_err());
            thread.join().unwrap();
        });
    }

    /// A file shared by processes: its words, and the mark on the disk.
    struct File {
        cursor: Cursor,
        mark: Mark,
        disk: AtomicU64,
    }

    impl File {
        /// The system's sync: copies the page to the disk.
        fn sync(&self) -> Result<(), ()> {
            self.disk.fetch_max(self.mark.written(), Relaxed);
            Ok(())
        }

        /// A process: takes a number, and raises the mark by `step` if the mark stops it.
        fn take(&self, step: u64) -> Option<u64> {
            for _ in 0..2 {
                match self.cursor.claim(1, &RULE, &mut Shown(4, 5)) {
                    Ok(claim) => {
                        let durable = self.disk.load(Relaxed);
                        assert!(claim.base <= durable, "{} is above the disk's mark {durable}", claim.base);
                        return Some(claim.base);
                    }
                    Err(_) => self.mark.raise(&self.cursor, self.cursor.next() + step, || self.sync()).unwrap(),
                }
            }
            None
        }
    }

    #[test]
    fn nothing_is_taken_above_a_mark_that_the_disk_does_not_have() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let (cursor, mark, disk) = (Cursor::window(8, 7), Mark::new(7), AtomicU64::new(7));
            let file = Arc::new(File { cursor, mark, disk });
            let other = file.clone();
            let thread = thread::spawn(move || [other.take(1), other.take(0)]);
            let mut numbers: Vec<_> = [file.take(0), file.take(2)].into_iter().flatten().collect();
            numbers.extend(thread.join().unwrap().into_iter().flatten());
            assert_distinct(numbers);
        });
    }

    /// A process that opens a file while others take numbers from it may not report damage. The first thread does the
    /// raising: with another one, loom leaves out the order that matters.
    fn assert_never_contradicts_itself(a_use: fn(&File)) {
        loom::model(move || {
            let (cursor, mark, disk) = (Cursor::window(8, 7), Mark::new(7), AtomicU64::new(7));
            let file = Arc::new(File { cursor, mark, disk });
            let [used, opened] = [file.clone(), file.clone()];
            let user = thread::spawn(move || a_use(&used));
            let opener = thread::spawn(move || assert_eq!(opened.mark.contradiction(&opened.cursor), None));
            file.mark.raise(&file.cursor, 11, || file.sync()).unwrap();
            user.join().unwrap();
            opener.join().unwrap();
        });
    }

    fn claim(file: &File) {
        let _ = file.cursor.claim(9, &RULE, &mut Shown(4, 4));
    }

    fn skip(file: &File) {
        file.mark.start_past(&file.cursor, || file.sync()).unwrap();
    }

    #[test]
    fn a_file_never_contradicts_itself_while_numbers_are_taken() {
        assert_never_contradicts_itself(claim);
    }

    #[test]
    fn a_file_never_contradicts_itself_while_numbers_are_skipped() {
        assert_never_contradicts_itself(skip);
    }

    #[test]
    fn processes_that_enter_another_boot_at_once_start_past_the_mark() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let (cursor, mark, disk) = (Cursor::window(8, 9), Mark::new(9), AtomicU64::new(9));
            let file = Arc::new(File { cursor, mark, disk });
            let other = file.clone();
            let enter = |file: &File| {
                file.mark.start_past(&file.cursor, || file.sync()).unwrap();
                file.take(1)
            };
            let thread = thread::spawn(move || enter(&other));
            let numbers: Vec<_> = [enter(&file), thread.join().unwrap()].into_iter().flatten().collect();
            assert!(numbers.iter().all(|&number| number > 9), "what may have been taken before: {numbers:?}");
            assert_distinct(numbers);
        });
    }

    /// A process that trusts an answer takes nothing that may have been taken before the crash, and a question that no
    /// process saw is not answered.
    #[test]
    fn only_a_process_that_has_entered_answers() {
        loom::model(|| {
            let (cursor, mark, presence) = (Cursor::window(8, 9), Mark::new(9), Presence::default());
            presence.arrive(); // before the crash
            let file = Arc::new((cursor, mark, presence));
            let user = file.clone();
            let thread = thread::spawn(move || {
                let (cursor, mark, presence) = &*user;
                mark.start_past(cursor, || Ok::<_, ()>(())).unwrap();
                presence.answer();
            });
            let (cursor, _, presence) = &*file;
            let question = presence.ask().expect("a process was there");
            if presence.is_answered(question) {
                assert_eq!(cursor.next(), 10);
            }
            thread.join().unwrap();
            let unheard = presence.ask().unwrap();
            assert!(!presence.is_answered(unheard));
        });
    }

    #[test]
    fn nothing_is_taken_above_the_floor_of_the_next_life() {
        loom::model(|| {
            let (cursor, mark, destroyed) = (Cursor::window(8, 7), Mark::new(7), AtomicBool::new(false));
            let group = Arc::new((cursor, mark, destroyed));
            let member = group.clone();
            let thread = thread::spawn(move || {
                let (cursor, mark, destroyed) = &*member;
                let is_over = || if destroyed.load(SeqCst) { Err(()) } else { Ok(()) };
                let _ = mark.raise(cursor, 9, is_over);
                twice(cursor, 1, RULE, Shown(4, 5))
            });
            let (_, mark, destroyed) = &*group;
            destroyed.store(true, SeqCst);
            fence(SeqCst);
            let floor = mark.written();
            for number in thread.join().unwrap() {
                assert!(number <= floor, "{number} is above the floor {floor}");
            }
        });
    }
}
