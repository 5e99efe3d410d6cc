//! IDs in UUIDs: vectors that Python's `uuid` module made after the table in `uuid.rs`, the order, and what is refused.

use std::collections::HashSet;

use flakeforge_core::layout::dialects::DIALECTS;
use flakeforge_core::layout::{Layout, Mode, Spec};
use flakeforge_core::refusal::Refusal;
use proptest::prelude::*;

fn named(name: &str) -> Layout {
    Layout::named(name).unwrap()
}

fn all() -> Vec<Layout> {
    DIALECTS.iter().map(|row| named(row.name)).collect()
}

fn bytes_of(uuid: &str) -> Vec<u8> {
    let digits = uuid.replace('-', "");
    (0..16).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap()).collect()
}

#[test]
fn the_vectors() {
    let hazelcast = named("hazelcast").with_id_offset(7).unwrap();
    for (layout, id, uuid) in [
        (named("flake"), 0x687e_4889_8912_7001, "687e4889-8912-8700-858f-670cd8eec840"),
        (named("chronicle"), 0x0123_4567_89ab_cdef, "01234567-89ab-8cde-bd6a-ec2bed0e4136"),
        (named("twitter"), 1_541_815_603_606_036_480, "1565a11f-6217-8a00-81de-963199249c03"),
        (hazelcast, 0x7fff_ffff_ffff_ffff, "7fffffff-ffff-8fff-bd16-642670d72dac"),
    ] {
        assert_eq!(layout.to_uuid(id).as_deref(), Some(uuid));
        assert_eq!(layout.from_uuid(uuid), Ok(id));
        assert_eq!(layout.from_uuid(&uuid.to_uppercase()), Ok(id));
    }
}

fn refuses(layout: &Layout, text: &str, because: &str) {
    let Err(Refusal::Uuid(why)) = layout.from_uuid(text) else { panic!("{text} is read") };
    assert!(why.starts_with(because), "{text}: {why}");
}

#[test]
fn an_id_that_is_none_of_the_layout_has_no_uuid_and_comes_out_of_none() {
    let twitter = named("twitter");
    assert_eq!(twitter.to_uuid(u64::MAX), None);
    let uuid = twitter.to_uuid(1).unwrap().replacen('0', "f", 1);
    refuses(&twitter, &uuid, "its ID has a bit set");
}

#[test]
fn no_two_layouts_of_the_table_have_the_same_mark() {
    let marks: HashSet<u64> = all().iter().map(Layout::uuid_mark).collect();
    assert_eq!(marks.len(), all().len() - 1, "uniqueid in its bits of time is as flake");
}

#[test]
fn the_mark_changes_with_what_times_are_read_with_and_with_nothing_else() {
    let mine = |name: &str, tick_ns, fields: &[(&str, u32)]| {
        let fields = fields.iter().map(|&(name, width)| (name.to_owned(), width)).collect();
        Layout::custom(Spec { name: name.to_owned(), epoch_ms: 0, tick_ns, fields }).unwrap()
    };
    let flake = named("flake");
    let other_fields = mine("mine", 1_000_000, &[("timestamp", 42), ("shard", 3), ("counter", 19)]);
    assert_eq!(other_fields.uuid_mark(), flake.uuid_mark());
    let uniqueid = named("uniqueid");
    assert_eq!(uniqueid.clone().with_mode(Mode::Sequential).unwrap().uuid_mark(), uniqueid.uuid_mark());
    assert_eq!(named("snowcast").with_nodes(1 << 9).unwrap().uuid_mark(), named("snowcast").uuid_mark());
    for other in [
        flake.clone().with_epoch(1),
        flake.clone().with_id_offset(1).unwrap(),
        mine("flake", 1_000_001, &[("timestamp", 42), ("shard", 10), ("counter", 12)]),
        mine("flake", 1_000_000, &[("timestamp", 41), ("shard", 11), ("counter", 12)]),
        mine("flake", 1_000_000, &[("zero", 1), ("timestamp", 42), ("shard", 9), ("counter", 12)]),
    ] {
        assert_ne!(other.uuid_mark(), flake.uuid_mark(), "{other:?}");
        let uuid = flake.to_uuid(5).unwrap();
        refuses(&other, &uuid, "bits 70 to 127");
    }
}

#[test]
fn every_bit_that_is_not_the_ids_has_its_one_value() {
    let flake = named("flake");
    let uuid = u128::from_str_radix(&flake.to_uuid(0).unwrap().replace('-', ""), 16).unwrap();
    for bit in 0..128 {
        let digits = format!("{:032x}", uuid ^ 1 << bit);
        let text = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-");
        match 127 - bit {
            0..48 | 52..64 | 66..70 => assert!(flake.from_uuid(&text).is_ok_and(|id| id.is_power_of_two()), "{text}"),
            48..52 => refuses(&flake, &text, "its version"),
            64..66 => refuses(&flake, &text, "its variant"),
            _ => refuses(&flake, &text, "bits 70 to 127"),
        }
    }
}

#[test]
fn no_other_form_of_a_uuid_is_read() {
    let flake = named("flake");
    let uuid = flake.to_uuid(0x687e_4889_8912_7001).unwrap();
    let wrong = [
        String::new(),
        format!("{{{uuid}}}"),
        format!("urn:uuid:{uuid}"),
        uuid.replace('-', ""),
        uuid.replace('-', "_"),
        format!("{uuid} "),
        format!(" {}", &uuid[1..]),
        format!("+{}", &uuid[1..]),
        format!("g{}", &uuid[1..]),
        uuid[1..].to_owned(),
        format!("é{}", &uuid[2..]),
        format!("-{}0{}", &uuid[..8], &uuid[9..35]),
    ];
    for text in wrong {
        refuses(&flake, &text, "it is not 8-4-4-4-12");
    }
}

proptest! {
    #[test]
    fn back_and_forth_and_in_order(a: u64, b: u64, which in 0..DIALECTS.len(), near in 0u64..3) {
        let layout = &all()[which];
        for (a, b) in [(a, b), (a, a.wrapping_add(near))] {
            let (Some(first), Some(second)) = (layout.to_uuid(a), layout.to_uuid(b)) else { continue };
            prop_assert_eq!(layout.from_uuid(&first), Ok(a));
            prop_assert_eq!(first.cmp(&second), a.cmp(&b));
            prop_assert_eq!(bytes_of(&first).cmp(&bytes_of(&second)), a.cmp(&b));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}|[0-9a-fA-F-]{36}") {
        let layout = named("flake");
        if let Ok(id) = layout.from_uuid(&text) {
            prop_assert_eq!(layout.to_uuid(id), Some(text.to_lowercase()));
        }
    }
}
