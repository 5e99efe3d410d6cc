'use strict'

// Mistakes in counters.

const COUNTERS = 'lease/grants/counters.rs'
const tests = 'model counters'

module.exports = [
  {
    name: 'a block counts after an error',
    edits: [[COUNTERS, 'let went_on = plan.is_done && ', 'let went_on = ']],
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
    name: 'a counter goes on under another identity',
    edits: [[COUNTERS, 'is_below || !counter.identity.matches(&view.identity, durable)', 'is_below']],
    tests,
  },
  {
    name: 'a counter goes on below what it gave',
    edits: [[COUNTERS, 'counter.is_lost || is_below ||', 'counter.is_lost ||']],
    tests: 'lease counters::',
  },
  {
    name: 'a counter goes on after it was made anew',
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
    name: 'whoever knows a counter makes it anew',
    edits: [[COUNTERS, '(Some(first), None) => self.write_counter', '(Some(first), _) => self.write_counter']],
    tests: 'lease counters::',
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
        'let is_lost = memory.is_lost(COUNTER, &self.name, self.sent);',
        'let is_lost = memory.is_lost(COUNTER, &self.name, self.sent) && false;',
      ],
    ],
    tests: 'lease counters::',
  },
  {
    name: 'a counter that continues keeps its lineage',
    edits: [
      [
        COUNTERS,
        'lineage: (view.fresh >> 64) as u64',
        'lineage: view.counter.as_ref().map_or((view.fresh >> 64) as u64, |counter| counter.lineage)',
      ],
    ],
    tests: 'lease counters::',
  },
]
