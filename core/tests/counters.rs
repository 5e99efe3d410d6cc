//! Counters of blocks: no block may be handed out twice, and no loss is repaired by itself.

#[cfg(not(loom))]
mod tests {
    use flakeforge_core::grants::{Broken, Store};

    #[test]
    fn counters_give_blocks() {
        let mut store = Store::default();
        assert_eq!(store.advance("n", 10, None), Err(Broken::Gone));
        assert_eq!(store.advance("n", 10, Some(5)), Ok(5));
        assert_eq!(store.advance("n", 7, Some(5)), Ok(15), "init is for a counter that is not there");
        assert_eq!(store.advance("n", 7, None), Ok(22));
        assert_eq!(store.advance("m", 7, Some(0)), Ok(0));
    }

    #[test]
    fn counters_move_forwards_only() {
        let mut store = Store::default();
        store.advance("n", 10, Some(0)).unwrap();
        assert_eq!(store.advance("n", 0, Some(4)), Ok(10));
        assert_eq!(store.advance("n", 0, Some(100)), Ok(100));
        assert_eq!(store.advance("n", 1, None), Ok(100));
    }

    #[test]
    fn a_loss_stops_a_counter_until_somebody_says_where_to_go_on() {
        let mut store = Store::default();
        store.advance("n", 10, Some(0)).unwrap();
        store.incarnation = 1;
        assert_eq!(store.advance("n", 10, None), Err(Broken::Lost));
        assert_eq!(store.advance("n", 10, Some(0)), Err(Broken::Lost));
        assert_eq!(store.advance("n", 0, None), Err(Broken::Lost));
        assert_eq!(store.advance("n", 0, Some(500)), Ok(500));
        assert_eq!(store.advance("n", 10, None), Ok(500));
    }

    #[test]
    fn a_counter_ends_with_its_64_bits() {
        let mut store = Store::default();
        assert_eq!(store.advance("n", 2, Some(u64::MAX - 2)), Ok(u64::MAX - 2));
        let before = store.clone();
        assert_eq!(store.advance("n", 1, None), Err(Broken::Full));
        assert_eq!(store, before);
        assert_eq!(store.advance("m", 2, Some(u64::MAX)), Err(Broken::Full));
        assert_eq!(store, before, "it was not made either");
        assert_eq!(store.advance("n", 0, None), Ok(u64::MAX));
    }
}
