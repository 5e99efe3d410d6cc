//! The texts of records: what is written is read again, and nothing else is.

use flakeforge_core::lease::grants::record::{
    CounterRecord, GroupConfig, GroupRecord, ServerIdentity, SlotRecord, Stage, Unreadable,
};
use flakeforge_core::release::Release;
use proptest::prelude::*;

fn identity() -> impl Strategy<Value = ServerIdentity> {
    (any::<String>(), any::<String>()).prop_map(|(history, process)| ServerIdentity { history, process })
}

prop_compose! {
    fn config()(
        fingerprint: String, slots: u32, ttl_ms: i64, skew_ms: i64, durable: bool,
    ) -> GroupConfig {
        GroupConfig { fingerprint, slots, ttl_ms, skew_ms, durable }
    }
}

fn state() -> impl Strategy<Value = Stage> {
    prop_oneof![
        Just(Stage::Unknown),
        config().prop_map(Stage::Live),
        config().prop_map(Stage::Ending),
        (any::<bool>(), any::<String>()).prop_map(|(durable, fingerprint)| Stage::Destroyed { durable, fingerprint }),
    ]
}

prop_compose! {
    fn group()(
        state in state(), life: u64, lineage: u64, quiet_until: i64, identity in identity(), replaced in identity(), returns: u32,
        ended: i64, others: i64, lost: i64, nonce: u64,
    ) -> GroupRecord {
        GroupRecord { state, life, lineage, quiet_until, identity, replaced, returns, ended, others, lost, nonce }
    }
}

prop_compose! {
    fn slot()(owner: Option<u128>, life: u64, lo: i64, hi: i64, host: String, nonce: u64) -> SlotRecord {
        SlotRecord { owner, life, lo, hi, host, nonce }
    }
}

prop_compose! {
    fn counter()(
        value: u64, is_lost: bool, may_end: bool, life in 0..4u64, lineage: u64, is_settled: bool, durable: bool,
        identity in identity(), nonce: u64,
    ) -> CounterRecord {
        let is_destroyed = may_end && !is_lost;
        CounterRecord { value, is_lost, is_destroyed, life, lineage, is_settled, durable, identity, nonce }
    }
}

/// Whether this text is not read as any kind of record.
fn is_none(text: &str) -> bool {
    GroupRecord::parse(text).is_err() && SlotRecord::parse(text).is_err() && CounterRecord::parse(text).is_err()
}

fn texts() -> [String; 3] {
    let identity = ServerIdentity { history: "7f 3a:0".to_owned(), process: String::new() };
    let config =
        GroupConfig { fingerprint: "tick=1 %".to_owned(), slots: 9, ttl_ms: 30_000, skew_ms: 5_000, durable: true };
    let state = Stage::Live(config);
    let replaced = ServerIdentity { history: String::new(), process: "p".to_owned() };
    let group = GroupRecord {
        state,
        life: 2,
        lineage: 0xdef,
        quiet_until: -1,
        identity: identity.clone(),
        replaced,
        returns: 1,
        ended: 0,
        others: 0,
        lost: 0,
        nonce: 0xabc,
    };
    let slot = SlotRecord { owner: Some(0xff), life: 3, lo: 10, hi: 20, host: "web\t1 é€😀".to_owned(), nonce: 7 };
    let counter = CounterRecord {
        value: 5,
        is_lost: false,
        is_destroyed: false,
        life: 1,
        lineage: 1,
        is_settled: true,
        durable: false,
        identity,
        nonce: u64::MAX,
    };
    [group.text(), slot.text(), counter.text()]
}

#[test]
fn a_text_is_one_line_that_people_can_read() {
    let [group, slot, counter] = texts();
    assert_eq!(
        group,
        "flakeforge1 group state=live life=2 lineage=0000000000000def quiet=-1 history=7f%203a:0 process= \
         replaced-history= replaced-process=p returns=1 durable=yes slots=9 ttl=30000 skew=5000 fingerprint=tick=1%20%25 \
         nonce=0000000000000abc sum=e559cd92"
    );
    assert_eq!(
        slot,
        "flakeforge1 slot owner=000000000000000000000000000000ff life=3 lo=10 hi=20 host=web%091%20é€😀 \
         nonce=0000000000000007 sum=67c7bffa"
    );
    assert_eq!(
        counter,
        "flakeforge1 counter value=5 lost=no lineage=0000000000000001 settled=yes durable=no history=7f%203a:0 \
         process= nonce=ffffffffffffffff sum=69a7081f"
    );
}

#[test]
fn a_counter_says_its_life_only_after_the_first_and_that_it_was_destroyed() {
    let [.., counter] = texts();
    let first = CounterRecord::parse(&counter).unwrap();
    let ended = CounterRecord { is_destroyed: true, life: 2, ..first.clone() };
    assert!(ended.text().contains(" value=5 lost=destroyed life=2 lineage="), "{}", ended.text());
    assert_eq!(CounterRecord::parse(&ended.text()), Ok(ended));
    let said = summed(&counter[..counter.rfind(" sum=").unwrap()].replace(" lineage=", " life=1 lineage="));
    assert!(is_none(&said), "two texts for one record");
}

#[test]
fn a_group_says_only_after_another_until_when_that_may_have_made_ids() {
    let [group, ..] = texts();
    let first = GroupRecord::parse(&group).unwrap();
    let next = GroupRecord { ended: 30, others: -20, ..first.clone() };
    assert!(next.text().contains(" returns=1 ended=30 others=-20 durable=yes"), "{}", next.text());
    assert_eq!(GroupRecord::parse(&next.text()), Ok(next));
    let said = |field: &str| {
        summed(&group[..group.rfind(" sum=").unwrap()].replace(" durable=", &format!("{field} durable=")))
    };
    assert!(GroupRecord::parse(&said(" others=1")).is_ok());
    for field in [" ended=0", " others=0", " others=1 ended=1", " ended=1 ended=1"] {
        assert!(is_none(&said(field)), "two texts for one record: {field}");
    }
}

#[test]
fn a_dead_group_has_a_text_too() {
    let config = GroupConfig { fingerprint: "f".to_owned(), slots: 9, ttl_ms: 30, skew_ms: 5, durable: false };
    let texts = [
        (Stage::Unknown, "unknown", ""),
        (Stage::Ending(config), "ending", " durable=no slots=9 ttl=30 skew=5 fingerprint=f"),
        (Stage::Destroyed { durable: true, fingerprint: "f".to_owned() }, "destroyed", " durable=yes fingerprint=f"),
        (Stage::Destroyed { durable: true, fingerprint: String::new() }, "destroyed", " durable=yes"),
    ];
    for (state, name, config) in texts {
        let expected = summed(&format!(
            "flakeforge1 group state={name} life=0 lineage=0000000000000000 quiet=0 history= process= replaced-history= \
             replaced-process= returns=0{config} nonce=0000000000000000"
        ));
        assert_eq!(GroupRecord { state, ..GroupRecord::default() }.text(), expected);
    }
}

#[test]
fn a_truncated_text_is_not_a_record() {
    for text in texts() {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert!(is_none(&text[..end]), "{}", &text[..end]);
            assert!(is_none(&text[end..]) || end == 0, "{}", &text[end..]);
        }
    }
}

#[test]
fn a_text_with_another_byte_anywhere_is_not_a_record() {
    for text in texts() {
        for at in 0..text.len() {
            for byte in 0..=255 {
                let mut bytes = text.clone().into_bytes();
                if std::mem::replace(&mut bytes[at], byte) != byte {
                    assert!(!String::from_utf8(bytes).is_ok_and(|text| !is_none(&text)), "{at}: {byte}");
                }
            }
        }
    }
}

#[test]
fn a_text_with_one_byte_more_or_less_is_not_a_record() {
    for text in texts() {
        for at in 0..=text.len() {
            for byte in [0, b'\n', b' ', b'%', b'0', b'a', b'='] {
                let mut bytes = text.clone().into_bytes();
                bytes.insert(at, byte);
                assert!(!String::from_utf8(bytes).is_ok_and(|text| !is_none(&text)), "{at}: {byte}");
            }
            let mut bytes = text.clone().into_bytes();
            if at < bytes.len() {
                bytes.remove(at);
                assert!(!String::from_utf8(bytes).is_ok_and(|text| !is_none(&text)), "{at}");
            }
        }
    }
}

/// With a valid checksum, so only the form is wrong.
fn summed(body: &str) -> String {
    let sum = body.bytes().fold(0x811c_9dc5u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{body} sum={sum:08x}")
}

#[test]
fn a_text_that_we_would_write_differently_is_not_a_record() {
    let [group, slot, counter] = texts().map(|text| text.rsplit_once(" sum=").unwrap().0.to_owned());
    assert!(GroupRecord::parse(&summed(&group)).is_ok(), "the checksum is right");
    let edits = [
        (&group, "life=2", "life=02"),
        (&group, "life=2", "life=+2"),
        (&group, "life=2", "life=-2"),
        (&group, "life=2", "life=18446744073709551616"),
        (&group, "quiet=-1", "quiet=9223372036854775808"),
        (&group, "quiet=-1", "quiet=-0"),
        (&group, "quiet=-1", "quiet="),
        (&group, "quiet=-1", "silent=-1"),
        (&group, "quiet=-1 ", ""),
        (&group, "lineage=0000000000000def ", ""),
        (&group, "state=live", "state=dead"),
        (&group, "state=live", "state=Live"),
        (&group, "state=live", "state=unknown"),
        (&group, "state=live", "state=destroyed"),
        (&group, "durable=yes", "durable=true"),
        (&group, "7f%203a", "7f%20%33a"),
        (&group, "%25", "%2g"),
        (&group, "%25", "%"),
        (&group, "%25", "%ff"),
        (&group, "nonce=0000000000000abc", "nonce=abc"),
        (&group, "nonce=0000000000000abc", "nonce=0000000000000ABC"),
        (&group, "nonce=0000000000000abc", "nonce=0000000000000abc more=1"),
        (&group, " life=2", "  life=2"),
        (&slot, "life=3 lo=10", "lo=10 life=3"),
        (&slot, "owner=000000000000000000000000000000ff", "owner=ff"),
        (&slot, "owner=000000000000000000000000000000ff", "owner="),
        (&slot, "lo=10", "lo=1e1"),
        (&slot, "é", "%c3%a9"),
        (&counter, "value=5", "value=-5"),
        (&counter, "lost=no", "lost=maybe"),
        (&counter, "flakeforge1", "flakeforge01"),
        (&counter, "flakeforge1", "flakeforge0"),
        (&counter, "flakeforge1", "Flakeforge1"),
        (&counter, "flakeforge1", "flakeforge"),
        (&counter, "counter", "count"),
    ];
    for (body, from, to) in edits {
        assert_eq!(body.matches(from).count(), 1, "{from}");
        let text = summed(&body.replace(from, to));
        assert!(is_none(&text), "{text}");
    }
}

#[test]
fn a_record_of_another_kind_is_damaged() {
    let [group, slot, counter] = texts();
    for (text, kind) in [(&group, 0), (&slot, 1), (&counter, 2)] {
        let read = [GroupRecord::parse(text).err(), SlotRecord::parse(text).err(), CounterRecord::parse(text).err()];
        for (other, error) in read.into_iter().enumerate() {
            assert_eq!(error, (other != kind).then_some(Unreadable::Damaged));
        }
    }
}

#[test]
fn a_newer_version_is_named() {
    for version in [2, 3, 70, u32::MAX] {
        let newer = |needs| Some(Unreadable::Newer { version, needs });
        let release = Some(Release { major: 1, minor: 40 });
        for (rest, needs) in [
            ("", None),
            (" group", None),
            (" whatever it says", None),
            (" needs=1.40", release),
            (" needs=1.40 group state=live", release),
            (" needs=1.4.0 group", None),
            (" needs=1", None),
            (" needs=65536.0", None),
            (" needs= 1.4", None),
            (" group needs=1.4", None),
        ] {
            let newer = newer(needs);
            let text = format!("flakeforge{version}{rest}");
            assert_eq!(GroupRecord::parse(&text).err(), newer);
            assert_eq!(SlotRecord::parse(&text).err(), newer);
            assert_eq!(CounterRecord::parse(&text).err(), newer);
        }
    }
    for text in ["flakeforge4294967296 group", "flakeforge-2 group", "flakeforge2group", "flakeforge 2"] {
        assert_eq!(GroupRecord::parse(text).err(), Some(Unreadable::Damaged), "{text}");
    }
}

/// A text with one or two random changes, at most one of them at an ASCII character.
fn changed(text: &str, changes: &[(prop::sample::Index, u8)]) -> Option<String> {
    let mut bytes = text.to_owned().into_bytes();
    for (at, byte) in changes {
        let at = at.index(bytes.len());
        bytes[at] = *byte;
    }
    String::from_utf8(bytes).ok().filter(|changed| changed != text)
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0x20u8..0x7f), 1..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_group_is_read_as_it_was_written(group in group(), changes in changes()) {
        let text = group.text();
        prop_assert!(!text.contains(['\n', '\r', '\0']) && !text.contains("  "));
        prop_assert_eq!(GroupRecord::parse(&text), Ok(group));
        prop_assert!(changed(&text, &changes).is_none_or(|text| is_none(&text)));
    }

    #[test]
    fn a_slot_is_read_as_it_was_written(slot in slot(), changes in changes()) {
        let text = slot.text();
        prop_assert!(!text.contains(['\n', '\r', '\0']) && !text.contains("  "));
        prop_assert_eq!(SlotRecord::parse(&text), Ok(slot));
        prop_assert!(changed(&text, &changes).is_none_or(|text| is_none(&text)));
    }

    #[test]
    fn a_counter_is_read_as_it_was_written(counter in counter(), changes in changes()) {
        let text = counter.text();
        prop_assert_eq!(CounterRecord::parse(&text), Ok(counter));
        prop_assert!(changed(&text, &changes).is_none_or(|text| is_none(&text)));
    }

    /// Random words in the form of a record, with a valid checksum: a record that was read is written in the same way.
    #[test]
    fn whatever_is_read_is_written_in_the_same_way(
        kind in prop::sample::select(vec!["group", "slot", "counter"]),
        fields in prop::collection::vec("[a-z]{0,6}=[-0-9a-f%yesnoliv]{0,12}", 0..12),
    ) {
        let text = summed(&format!("flakeforge1 {kind} {}", fields.join(" ")));
        prop_assert!(GroupRecord::parse(&text).is_err() || GroupRecord::parse(&text).unwrap().text() == text);
        prop_assert!(SlotRecord::parse(&text).is_err() || SlotRecord::parse(&text).unwrap().text() == text);
        prop_assert!(CounterRecord::parse(&text).is_err() || CounterRecord::parse(&text).unwrap().text() == text);
    }

    #[test]
    fn no_two_records_have_one_text(one in slot(), two in slot()) {
        prop_assert_eq!(one == two, one.text() == two.text());
    }
}
