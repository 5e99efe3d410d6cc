//! Helpers for tests of files: generators on files, and ways to run this test program as another process.

#![allow(dead_code)] // each test file uses only some of it

pub mod slots;

use std::collections::HashSet;
use std::env;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::generator::any_cursor::AnyCursor;
use flakeforge_core::generator::clock::TickClock;
use flakeforge_core::generator::registry::Key;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::Layout;
use flakeforge_core::refusal::Refusal;

pub const PLAIN: Knobs = Knobs { seq_mask: 4095, max_ahead_ms: 0.0, is_start_random: false, prefetch: None };
/// Never waits, so numbers reach the mark again and again.
pub const ENDLESS: Knobs = Knobs { max_ahead_ms: f64::INFINITY, ..PLAIN };
pub const NODE: u64 = 7;

pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(20), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

pub fn flake() -> Layout {
    Layout::named("flake").unwrap()
}

pub fn fingerprint() -> String {
    let layout = flake();
    Key::new(&layout, layout.place_node(NODE)).fingerprint()
}

pub fn open(path: &Path) -> Result<Arc<SharedCursor>, Refusal> {
    SharedCursor::open(path, flake().scale(), 12, &fingerprint())
}

/// The path in a refusal.
pub fn blamed(refusal: &Refusal) -> &str {
    let (Refusal::File { path, .. } | Refusal::Mismatch { path, .. }) = refusal else { panic!("{refusal}") };
    path
}

pub fn generator(source: impl Into<AnyCursor>, knobs: &Knobs) -> Generator {
    let layout = flake();
    Generator::new(TickClock::system(layout.scale()), source, &layout, layout.place_node(NODE), knobs)
}

/// The environment variable with the task for another process of this program.
const PART: &str = "FLAKEFORGE_TEST_PART";

/// The task from the parent, if this is another process.
pub fn part() -> Option<String> {
    env::var(PART).ok()
}

/// This program as another process that runs one test, named with its module. There, `part` returns the task given here.
pub fn process(test: &str, part: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--quiet"]).env(PART, part).stdout(Stdio::piped());
    command
}

/// Runs a test in a separate process, with a folder that is removed afterwards.
pub fn alone(test: &str, run: impl FnOnce(&Path)) {
    if let Some(folder) = part() {
        return run(Path::new(&folder));
    }
    let temp = tempfile::tempdir().unwrap();
    succeeds(&mut process(test, temp.path().to_str().unwrap()));
}

/// Runs a process to its end, and checks that it succeeded.
pub fn succeeds(process: &mut Command) {
    let output = process.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("running 1 test"), "{told}");
}

/// The same process without the ability to write files. A limit on the file size makes a write fail as on a full disk, and
/// needs no permission.
pub fn without_room(process: &Command) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]).arg(process.get_program());
    limited.args(process.get_args()).envs(process.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited
}

/// IDs go to the parent between markers, because the test harness prints to the same output.
const FROM: &[u8] = b"<<<IDs:";

/// Sends IDs to the parent in blocks: a killed process loses at most its last block.
pub fn send(blocks: impl Iterator<Item = Vec<u64>>) {
    let mut out = BufWriter::new(std::io::stdout().lock());
    out.write_all(FROM).unwrap();
    for block in blocks {
        for id in block {
            out.write_all(&id.to_be_bytes()).unwrap();
        }
        out.flush().unwrap();
    }
    drop(out);
    std::process::exit(0); // before the harness prints more
}

/// All complete IDs that a process sent until it ended.
pub fn receive(mut child: Child) -> Vec<u64> {
    let mut bytes = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut bytes).unwrap();
    child.wait().unwrap();
    let Some(start) = bytes.windows(FROM.len()).position(|window| window == FROM) else { return vec![] };
    let ids = bytes[start + FROM.len()..].as_chunks::<8>().0;
    ids.iter().map(|id| u64::from_be_bytes(*id)).collect()
}

/// How many IDs occur twice in all processes together. The IDs of each process are in order.
pub fn duplicates(of_each: &[Vec<u64>]) -> usize {
    let mut seen = HashSet::new();
    let mut twice = 0;
    for ids in of_each {
        assert!(ids.is_sorted_by(|a, b| a < b), "a process's IDs are in order");
        twice += ids.iter().filter(|id| !seen.insert(**id)).count();
    }
    twice
}

/// The words of a page in the file: next, limit and mark, read in this order.
pub fn words(path: &Path) -> [u64; 3] {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::open(path).unwrap();
    [2048, 2056, 2560].map(|at| {
        let mut word = [0; 8];
        file.read_exact_at(&mut word, at).unwrap();
        u64::from_ne_bytes(word)
    })
}
