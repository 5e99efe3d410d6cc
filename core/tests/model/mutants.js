'use strict'

// Mistakes in the rules that only their meaning makes one: each is an edit that a test of the model must notice. Those of
// form, such as another comparison or a missing condition, are cargo-mutants' (lab/mutants/grants.toml).
//
// { name, edits: [[file, from, to], …], tests }: `from` is text that occurs once in core/src/`file`; `tests` are a test
// target of the core and the names of its tests. At least one of them must fail.

module.exports = [
  {
    name: 'a grant that is written again begins earlier than others have seen',
    edits: [['lease/grants/slots.rs', '(slot, own.lo.max(view.now), own.hi)', '(slot, view.now, own.hi)']],
    tests: 'model clocks_and_pauses',
  },
  {
    name: 'a grant or a renewal that only a read shows counts (R9)',
    edits: [['lease/grants/slots.rs', 'name, is_clean: true, .. })', 'name, .. })']],
    tests: 'model an_old_primary_that_lives_on',
  },
  {
    name: 'a grant reaches 1 ms too far',
    edits: [['lease/grants/slots.rs', ' hi.max(view.now.saturating_add(ttl_ms));', ' hi.max(view.now + ttl_ms + 1);']],
    tests: 'model losses',
  },
  {
    name: 'a renewal creates a group (R10)',
    edits: [
      ['lease/grants/group.rs', '            Task::Renew(_, held) => return without_group(view, held),\n', ''],
      ['lease/grants/group.rs', '            Task::Renew(_, held) => without_group(view, held),\n', ''],
    ],
    tests: 'model losses',
  },
  {
    name: 'a position that fell is not noted',
    edits: [
      [
        'lease/grants.rs',
        'let is_lost = memory.is_lost(GROUP, &self.name, &self.sent);',
        'let is_lost = memory.is_lost(GROUP, &self.name, &self.sent) && false;',
      ],
    ],
    tests: 'model losses',
  },
  {
    name: 'the process is not compared',
    edits: [
      [
        'lease/grants/record.rs',
        '(durable || same(&self.process, &now.process))',
        '(durable || !self.process.is_empty() || same(&self.process, &now.process))',
      ],
    ],
    tests: 'model losses',
  },
  {
    name: "the end of a grant is computed from the client's clock",
    edits: [['lease/grants/slots.rs', ' hi.max(view.now.saturating_add(ttl_ms));', ' hi.max(view.client.1 + ttl_ms);']],
    tests: 'model client_clocks',
  },
  {
    name: 'a slot is released before its cursor is retired',
    edits: [
      [
        'lease.rs',
        '            turn.act(Action::Retire);\n            turn.act(Action::Tell(News::Detached));',
        '            turn.act(Action::Tell(News::Detached));',
      ],
    ],
    tests: 'model slots_that_are_given_back',
  },
  {
    name: 'a successor grants before the quiet period of the tombstone is over',
    edits: [
      [
        'lease/grants/group.rs',
        'let quiet_until = if is_same { known } else',
        'let quiet_until = if is_same { 0 } else',
      ],
    ],
    tests: 'model groups_begin_and_end ends_between_a_read_and_a_swap',
  },
  {
    name: 'a block counts after an error',
    edits: [['lease/grants/counters.rs', 'let is_ours = plan.is_clean && ', 'let is_ours = ']],
    tests: 'model counters',
  },
  {
    name: 'a counter of the past starts anew although the store lost something',
    edits: [
      [
        'lease/grants/counters.rs',
        'if is_lost || is_another || !kept.identity.matches(identity, true) {',
        'if is_another {',
      ],
    ],
    tests: 'model counters_of_past_moments',
  },
  {
    name: 'the counters of a moment and of its span give the same numbers',
    edits: [['lease/backfill.rs', 'let first = self.of_spans.saturating_add(first);', '']],
    tests: 'model past_moments',
  },
]
