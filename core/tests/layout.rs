//! Layouts: pack and unpack are inverses, and the flake row is flake-idgen's.

#[cfg(not(loom))]
mod tests {
    use flakeforge_core::layout::{Layout, Unpacked};
    use proptest::prelude::*;

    fn flake() -> Layout {
        Layout::named("flake").unwrap()
    }

    #[test]
    fn the_example_of_flake_idgens_readme() {
        // "0x8c20c0335 | 00011b | 00001b | 0x001 | 0x02308300cd461001"
        let parts = Unpacked { tick: 0x8_c20c_0335, counter: 1, node: 3 << 5 | 1 };
        assert_eq!(flake().pack(parts), 0x0230_8300_cd46_1001);
        assert_eq!(flake().unpack(0x0230_8300_cd46_1001), parts);
    }

    #[test]
    fn every_row_has_64_bits_and_one_timestamp() {
        for row in flakeforge_core::dialects::DIALECTS {
            assert_eq!(row.fields.iter().map(|field| field.1).sum::<u32>(), 64, "{}", row.name);
            assert_eq!(row.fields.iter().filter(|field| field.0 == "timestamp").count(), 1, "{}", row.name);
        }
    }

    #[test]
    fn the_ends_of_flake() {
        const MS: i128 = 1_000_000;
        assert_eq!(flake().end_ns(), (1 << 42) * MS);
        assert_eq!(flake().signed_end_ns(), (1 << 41) * MS);
        let later = flake().with_epoch(1000);
        assert_eq!(later.end_ns(), ((1 << 42) + 1000) * MS);
        assert_eq!(later.last_number(), (1 << 54) - 1);
    }

    #[test]
    fn no_other_name_is_a_layout() {
        assert!(Layout::named("Flake").is_none());
        assert!(Layout::named("").is_none());
    }

    proptest! {
        #[test]
        fn unpack_inverts_pack(tick in 0u64..1 << 42, counter in 0u64..4096, node in 0u64..1024) {
            let parts = Unpacked { tick, counter, node };
            prop_assert_eq!(flake().unpack(flake().pack(parts)), parts);
        }

        #[test]
        fn pack_inverts_unpack(id: u64) {
            prop_assert_eq!(flake().pack(flake().unpack(id)), id);
        }

        #[test]
        fn the_fast_way_is_the_same(tick in 0u64..1 << 42, counter in 0u64..4096, node in 0u64..1024) {
            let layout = flake();
            let id = layout.packing.pack(tick << 12 | counter, layout.place_node(node));
            prop_assert_eq!(id, layout.pack(Unpacked { tick, counter, node }));
        }

        #[test]
        fn node_fields_join_to_the_node(datacenter in 0u64..32, worker in 0u64..32) {
            let layout = flake();
            let node = layout.join_node([datacenter, worker]);
            prop_assert_eq!(node, datacenter << 5 | worker);
            let id = layout.pack(Unpacked { tick: 7, counter: 9, node });
            let values: Vec<u64> = layout.node_fields().map(|field| field.value(id)).collect();
            prop_assert_eq!(values, vec![datacenter, worker]);
        }
    }
}
