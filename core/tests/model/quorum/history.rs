//! The history of registers whose texts are never written twice: per record one chain of values without a fork, in real time;
//! and snapshots of several records that form a chain.

use std::collections::{BTreeMap, BTreeSet};

/// A value: the number of the swap that wrote it; 0 for none.
pub type Value = u64;

/// A read of some records.
#[derive(Clone, Debug)]
pub struct Seen {
    pub start: i64,
    pub end: i64,
    /// by the number of the record
    pub values: BTreeMap<usize, Value>,
}

/// A swap of one record.
#[derive(Clone, Debug)]
pub struct Written {
    pub start: i64,
    /// the end of time until it was answered
    pub end: i64,
    pub record: usize,
    pub from: Value,
    pub to: Value,
    /// whether it was answered cleanly
    pub is_clean: bool,
}

/// What happened in one era.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub reads: Vec<Seen>,
    pub swaps: Vec<Written>,
}

impl History {
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        let records: BTreeSet<_> = self.reads.iter().flat_map(|read| read.values.keys().copied()).collect();
        let mut places = BTreeMap::new();
        for record in records {
            let chain = self.chain(record)?;
            self.check_time(record, &chain)?;
            places.insert(record, chain);
        }
        self.check_snapshots(&places)
    }

    /// The place of each value of a record.
    fn chain(&self, record: usize) -> Result<BTreeMap<Value, usize>, String> {
        let swaps: BTreeMap<_, _> = self.swaps.iter().filter(|it| it.record == record).map(|it| (it.to, it)).collect();
        let shown = self.reads.iter().filter_map(|read| read.values.get(&record).copied());
        let clean = swaps.values().filter(|swap| swap.is_clean).map(|swap| swap.to);
        let (mut effective, mut after) = (BTreeSet::from([0]), BTreeMap::new());
        for mut value in shown.chain(clean) {
            while effective.insert(value) {
                let swap = swaps.get(&value).ok_or(format!("record {record} shows {value}, which nobody wrote"))?;
                if let Some(other) = after.insert(swap.from, value) {
                    return Err(format!("a fork of record {record}: {other} and {value} follow {}", swap.from));
                }
                value = swap.from;
            }
        }
        let mut chain = BTreeMap::from([(0, 0)]);
        let mut value = 0;
        while let Some(next) = after.get(&value) {
            value = *next;
            chain.insert(value, chain.len());
        }
        Ok(chain)
    }

    /// A call that began after another one had ended does not come before it.
    fn check_time(&self, record: usize, chain: &BTreeMap<Value, usize>) -> Result<(), String> {
        // Start, end, the least place before it, and its own.
        let reads = self.reads.iter().filter_map(|read| {
            let place = chain[read.values.get(&record)?];
            Some((read.start, read.end, place, place))
        });
        let swaps = self.swaps.iter().filter(|swap| swap.record == record).filter_map(|swap| {
            let place = *chain.get(&swap.to)?;
            Some((swap.start, if swap.is_clean { swap.end } else { i64::MAX }, place - 1, place))
        });
        let mut starts: Vec<_> = reads.chain(swaps).collect();
        let mut ends = starts.clone();
        starts.sort_by_key(|call| call.0);
        ends.sort_by_key(|call| call.1);
        let (mut ends, mut most) = (ends.into_iter().peekable(), 0);
        for (start, _, least, place) in starts {
            while let Some(ended) = ends.next_if(|ended| ended.1 < start) {
                most = most.max(ended.3);
            }
            if most > least {
                return Err(format!("record {record} went back to place {place} after {most}, at {start} ms"));
            }
        }
        Ok(())
    }

    /// Of two snapshots of the same records, none is older in one and newer in another.
    fn check_snapshots(&self, places: &BTreeMap<usize, BTreeMap<Value, usize>>) -> Result<(), String> {
        let mut by_records: BTreeMap<Vec<usize>, Vec<Vec<usize>>> = BTreeMap::new();
        for read in &self.reads {
            let shown = read.values.iter().map(|(record, value)| places[record][value]).collect();
            by_records.entry(read.values.keys().copied().collect()).or_default().push(shown);
        }
        for mut shown in by_records.into_values() {
            shown.sort_by_key(|places| places.iter().sum::<usize>());
            for two in shown.windows(2) {
                if two[0].iter().zip(&two[1]).any(|(earlier, later)| earlier > later) {
                    return Err(format!("two reads are no snapshots: {:?} and {:?}", two[0], two[1]));
                }
            }
        }
        Ok(())
    }
}

/// The checker itself can fail.
#[test]
fn the_checker_sees_forks_old_values_and_torn_reads() {
    let swap = |record, from, to, time| Written { start: time, end: time + 1, record, from, to, is_clean: true };
    let read =
        |time, values: &[(usize, Value)]| Seen { start: time, end: time + 1, values: values.iter().copied().collect() };
    let wrong = |reads: Vec<Seen>, swaps: Vec<Written>| History { reads, swaps }.check().unwrap_err();
    let all = read(0, &[(0, 0), (1, 0)]);
    assert!(wrong(vec![all.clone()], vec![swap(0, 0, 1, 10), swap(0, 0, 2, 20)]).contains("fork"));
    assert!(wrong(vec![all.clone(), read(20, &[(0, 0)])], vec![swap(0, 0, 1, 10)]).contains("went back"));
    assert!(wrong(vec![read(0, &[(0, 7)])], vec![]).contains("nobody"));
    let at_once = |record, to| Written { start: 10, end: 90, record, from: 0, to, is_clean: true };
    let torn = vec![Seen { end: 50, ..read(20, &[(0, 1), (1, 0)]) }, Seen { end: 50, ..read(20, &[(0, 0), (1, 2)]) }];
    assert!(wrong(torn, vec![at_once(0, 1), at_once(1, 2)]).contains("no snapshots"));
    assert_eq!(
        History { reads: vec![all, read(20, &[(0, 1), (1, 0)])], swaps: vec![swap(0, 0, 1, 10)] }.check(),
        Ok(())
    );
}
