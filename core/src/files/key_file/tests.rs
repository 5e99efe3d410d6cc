//! The registry of a process: keys whose cursors are in files.

use super::*;
use crate::generator::clock::system_ns;
use crate::generator::entry::LONG_PAST_NS;
use crate::generator::registry::{LEASED, PLAIN};
use crate::layout::Layout;

fn key(node: u64) -> Key {
    let layout = Layout::named("flake").unwrap();
    Key::new(&layout, layout.place_node(node))
}

fn file(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("flakeforge-registry-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn one_key_is_used_in_one_way() {
    let (registry, path, other) = (Registry::<KeyFile>::default(), file("one"), file("other"));
    let clash = |theirs: &str, ours: &str| Refusal::Clash { theirs: theirs.to_owned(), ours: ours.to_owned() };
    let plain = registry.plain(key(1)).unwrap();
    assert_eq!(registry.shared(key(1), &path).unwrap_err(), clash(PLAIN, &in_file(&path)));
    assert!(!path.exists(), "a clash makes no file");
    assert_eq!(registry.lease(key(1)).unwrap_err(), clash(PLAIN, LEASED));
    drop(plain);

    let shared = registry.shared(key(1), &path).unwrap(); // it had given no number
    assert!(Arc::ptr_eq(&shared, &registry.shared(key(1), &path).unwrap()));
    assert_eq!(registry.shared(key(1), &other).unwrap_err(), clash(&in_file(&path), &in_file(&other)));
    assert!(!other.exists(), "a clash makes no file");
    drop(shared);
    assert_eq!(registry.plain(key(1)).unwrap_err(), clash(&in_file(&path), PLAIN), "even if it is not open");
    assert_eq!(registry.lease(key(1)).unwrap_err(), clash(&in_file(&path), LEASED));
    registry.shared(key(1), &path).unwrap();

    let leases = [registry.lease(key(2)).unwrap(), registry.lease(key(2)).unwrap()];
    assert_eq!(registry.plain(key(2)).unwrap_err(), clash(LEASED, PLAIN));
    assert_eq!(registry.shared(key(2), &other).unwrap_err(), clash(LEASED, &in_file(&other)));
    drop(leases);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_file_continues_above_earlier_leases() {
    let (registry, path) = (Registry::<KeyFile>::default(), file("after-a-lease"));
    let last = (((system_ns() - 2_000_000_000) / 1_000_000) as u64) << 12;
    registry.lease(key(3)).unwrap().end(last);
    assert_eq!(registry.shared(key(3), &path).unwrap().cursor().next(), last + 1);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_sweep_keeps_what_is_in_a_file() {
    let (registry, path) = (Registry::<KeyFile>::default(), file("swept"));
    drop(registry.shared(key(6), &path).unwrap());
    registry.sweep(system_ns() + LONG_PAST_NS * 2);
    assert!(registry.plain(key(6)).is_err(), "its IDs may be ahead of the clock");
    registry.shared(key(6), &path).unwrap();
    std::fs::remove_file(path).unwrap();
}

#[cfg(unix)]
#[test]
fn a_file_by_another_name_is_the_same_file() {
    let (registry, path, other) = (Registry::<KeyFile>::default(), file("named"), file("link"));
    drop(registry.shared(key(5), &path).unwrap());
    std::os::unix::fs::symlink(&path, &other).unwrap();
    registry.shared(key(5), &other).unwrap();
    std::fs::remove_file(path).unwrap();
    std::fs::remove_file(other).unwrap();
}

#[test]
fn a_replaced_file_is_opened_again() {
    let (registry, path) = (Registry::<KeyFile>::default(), file("replaced"));
    let first = registry.shared(key(3), &path).unwrap();
    let far = u64::MAX / 2;
    first.go_on_at(far).unwrap();
    std::fs::remove_file(&path).unwrap();
    let second = registry.shared(key(3), &path).unwrap();
    assert!(first.is_ended() && !second.is_ended());
    assert_eq!(second.cursor().next(), far, "what was given is not given again");
    assert!(second.cursor().limit() >= far);
    assert!(Arc::ptr_eq(&second, &registry.shared(key(3), &path).unwrap()));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn threads_that_open_a_file_at_once_share_its_cursor() {
    let (registry, path) = (Registry::<KeyFile>::default(), file("at-once"));
    let last = (((system_ns() - 2_000_000_000) / 1_000_000) as u64) << 12;
    registry.lease(key(7)).unwrap().end(last);
    let barrier = std::sync::Barrier::new(4);
    let open = || {
        barrier.wait();
        let shared = registry.shared(key(7), &path).unwrap();
        assert!(shared.cursor().next() > last, "above what its leases gave");
        shared
    };
    let opened: Vec<_> = std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(open));
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(opened.iter().all(|shared| Arc::ptr_eq(shared, &opened[0])));
    std::fs::remove_file(path).unwrap();
}
