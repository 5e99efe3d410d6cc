'use strict'

// Mistakes in the holder's state machine.

const LEASE = 'lease.rs'

module.exports = [
  {
    name: 'a late answer to another owner is accepted',
    edits: [[LEASE, 'request.asked == asked && request.owner == owner', 'request.asked == asked && owner > 0']],
    tests: 'lease holder::',
  },
  {
    name: 'a late answer to another kind of request is accepted',
    edits: [
      [
        LEASE,
        'request.asked == asked && request.owner == owner',
        '(request.asked == asked || asked == Asked::Renew) && request.owner == owner',
      ],
    ],
    tests: 'lease holder::',
  },
  {
    name: 'a renewal after a quiet period keeps the start of the old window',
    edits: [
      [
        LEASE,
        '(grant.lo, grant.hi) = (grant.lo.max(lo), grant.hi.max(hi));',
        '(grant.lo, grant.hi) = (grant.lo.min(lo), grant.hi.max(hi));',
      ],
    ],
    tests: 'lease holder::',
  },
  {
    name: 'a cursor’s next number is not raised',
    edits: [
      [LEASE, 'turn.act(Action::Raise { lo, hi });', 'turn.act(Action::Raise { lo: grant.lo.min(lo - 60), hi });'],
    ],
    tests: 'model losses',
  },
  {
    name: 'a renewal asks with the end of the next window',
    edits: [
      [LEASE, 'Action::Renew { owner, slot, hi })\n', 'Action::Renew { owner, slot, hi: hi + self.timing.ttl_ms })\n'],
    ],
    tests: 'model losses',
  },
  {
    name: 'a slot is released before its cursor is retired',
    edits: [
      [
        LEASE,
        '            turn.act(Action::Retire);\n            turn.act(Action::Tell(News::Detached));',
        '            turn.act(Action::Tell(News::Detached));',
      ],
    ],
    tests: 'model slots_that_are_given_back',
  },
  {
    name: 'an open slot is released as unused',
    edits: [[LEASE, 'turn.act(Action::Release { owner, slot });', 'turn.act(Action::GiveBack { owner, slot });']],
    tests: 'model slots_that_are_given_back',
  },
  {
    name: 'the cursor of a lost slot is not retired',
    edits: [
      [
        LEASE,
        '            self.recovering = true;\n            turn.act(Action::Retire);',
        '            self.recovering = true;',
      ],
    ],
    tests: 'lease holder::',
  },
  {
    name: 'a group ends twice',
    edits: [[LEASE, '        if self.phase == Phase::Destroyed {\n            return;\n        }\n', '']],
    tests: 'lease holder::',
  },
  {
    name: 'a generator whose group has ended is detached',
    edits: [
      [
        LEASE,
        '        if self.phase != Phase::Destroyed {\n            self.leave(turn);',
        '        if self.phase != Phase::Idle {\n            self.leave(turn);',
      ],
    ],
    tests: 'lease holder::',
  },
  {
    name: 'a group that has ended is ended again',
    edits: [[LEASE, 'Event::Destroy if self.phase != Phase::Destroyed =>', 'Event::Destroy =>']],
    tests: 'lease holder::',
  },
  {
    name: 'a failed release counts as a failed search',
    edits: [[LEASE, 'Phase::Seeking { .. } if asked == Asked::Acquire =>', 'Phase::Seeking { .. } =>']],
    tests: 'lease holder::',
  },
  {
    name: 'a slot that was granted too late is kept',
    edits: [
      [
        LEASE,
        '            let Grant { owner, slot, .. } = grant;\n            turn.act(Action::GiveBack { owner, slot });\n',
        '            let Grant { owner, .. } = grant;\n',
      ],
    ],
    tests: 'lease holder::',
  },
]
