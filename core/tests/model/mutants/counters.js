'use strict'

// Mistakes in counters.

const COUNTERS = 'lease/grants/counters.rs'
const tests = 'model counters'

module.exports = [
  {
    name: 'a block counts after an error',
    edits: [[COUNTERS, 'let is_ours = plan.is_clean && ', 'let is_ours = ']],
    tests,
  },
  {
    name: 'a block counts in another lineage',
    edits: [[COUNTERS, 'shown.lineage == written.lineage && shown.value', 'shown.value']],
    tests,
  },
  {
    name: 'a block counts where a loss was noted',
    edits: [[COUNTERS, 'written.is_lost || shown.is_lost || view.is_lost;', 'written.is_lost || view.is_lost;']],
    tests: 'lease counters::',
  },
  {
    name: 'a block counts under another identity',
    edits: [
      [
        COUNTERS,
        ' || !is_same(&shown.identity) || !is_same(&plan.identity) {',
        ' || is_same(&shown.identity) && !is_same(&shown.identity) {',
      ],
    ],
    tests: 'lease counters::',
  },
  {
    name: 'a counter continues under another identity',
    edits: [[COUNTERS, 'is_another || !counter.identity.matches(&view.identity, durable)', 'is_another']],
    tests,
  },
  {
    name: 'a counter continues below its given numbers',
    edits: [[COUNTERS, 'view.is_lost || is_below ||', 'view.is_lost ||']],
    tests: 'lease counters::',
  },
  {
    name: 'a counter continues after it was recreated',
    edits: [
      [
        COUNTERS,
        'known.lineage != counter.lineage) && !counter.is_settled',
        'known.lineage != counter.lineage && known.value == 0) && !counter.is_settled',
      ],
    ],
    tests: 'lease counters::',
  },
  {
    name: 'a client that knows a counter recreates it',
    edits: [[COUNTERS, '(Some(first), None) => self.write_counter', '(Some(first), _) => self.write_counter']],
    tests: 'lease counters::',
  },
  {
    name: 'a client that finds another identity does not note it',
    edits: [
      [
        COUNTERS,
        'return self.write_lost(view, counter.clone(), memory);',
        'return if view.is_lost { self.write_lost(view, counter.clone(), memory) } else { Err(StepError::Behind) };',
      ],
    ],
    tests,
  },
  {
    name: 'a missing counter is noted as one that continues',
    edits: [
      [
        COUNTERS,
        'CounterRecord { is_lost: true, nonce: nonce(view.fresh), ..counter }',
        'CounterRecord { is_lost: view.counter.is_some(), nonce: nonce(view.fresh), ..counter }',
      ],
    ],
    tests: 'lease counters::',
  },
  {
    name: 'a restored counter continues',
    edits: [
      [
        COUNTERS,
        'Some(counter) if counter.is_lost && self.wrote_cleanly(COUNTER, &counter.text()) => {',
        'Some(_) => {',
      ],
    ],
    tests: 'model losses_that_an_operator_reports',
  },
  {
    name: 'a counter goes down',
    edits: [[COUNTERS, 'counter.value.max(place)', 'counter.value.min(place)']],
    tests,
  },
  {
    name: 'a counter does not note that a position fell',
    edits: [
      [
        COUNTERS,
        'let is_lost = memory.is_lost(COUNTER, &self.name, &self.sent);',
        'let is_lost = memory.is_lost(COUNTER, &self.name, &self.sent) && false;',
      ],
    ],
    tests: 'lease counters::',
  },
  {
    name: 'a counter that continues keeps its lineage',
    edits: [
      [
        COUNTERS,
        'lineage: lineage(view.fresh)',
        'lineage: view.counter.as_ref().map_or(lineage(view.fresh), |counter| counter.lineage)',
      ],
    ],
    tests: 'lease counters::',
  },
  {
    name: 'a counter of a newer version counts as absent',
    edits: [
      [
        COUNTERS,
        'let counter = counter.map_err(|why| StepError::Record(COUNTER.to_owned(), why))?;',
        'let counter = counter.ok().flatten();',
      ],
    ],
    tests: 'model newer_versions',
  },
]
