'use strict'

// Mistakes in which member gets which slot and which window.

const SLOTS = 'lease/grants/slots.rs'
const between = 'model losses_between_a_read_and_a_swap'

module.exports = [
  {
    name: 'an acquisition is answered by its swap instead of a read',
    edits: [
      [
        'lease/grants.rs',
        '            if plan.name != GROUP {\n                let now',
        `            if is_clean && let (Some(slot), Ok(record)) = (slot_of(&plan.name), SlotRecord::parse(&plan.to)) {
                let SlotRecord { lo, hi, .. } = record;
                return Ask::Done(Answer::Granted(task::Granted { slot, lo, hi, now: lo }));
            }
            if plan.name != GROUP {\n                let now`,
      ],
    ],
    tests: between,
  },
  {
    name: 'a nonce is always the same',
    edits: [['lease/grants/step.rs', '    fresh as u64\n', '    fresh as u64 & 0\n']],
    tests: 'lease group_life::',
  },
  {
    name: 'a grant in the last ms of a window',
    edits: [[SLOTS, '(record.hi < view.now)', '(record.hi <= view.now)']],
    tests: 'model clocks_and_pauses',
  },
  {
    name: 'a grant reaches 1 ms too far',
    edits: [[SLOTS, ' hi.max(view.now.saturating_add(ttl_ms));', ' hi.max(view.now + ttl_ms + 1);']],
    tests: 'model losses',
  },
  {
    name: 'a renewal raises 1 ms too far',
    edits: [[SLOTS, 'own.hi.max(view.now.saturating_add(ttl_ms));', 'own.hi.max(view.now + ttl_ms + 1);']],
    tests: 'model losses',
  },
  {
    name: "the end of a grant is computed from the client's clock",
    edits: [[SLOTS, ' hi.max(view.now.saturating_add(ttl_ms));', ' hi.max(view.client.1 + ttl_ms);']],
    tests: 'model client_clocks',
  },
  {
    name: "the end of a renewal is computed from the client's clock",
    edits: [[SLOTS, 'own.hi.max(view.now.saturating_add(ttl_ms));', 'own.hi.max(view.client.1 + ttl_ms);']],
    tests: 'model client_clocks',
  },
  {
    name: 'a renewal lowers the end',
    edits: [[SLOTS, 'own.hi.max(view.now.saturating_add(ttl_ms));', 'view.now + ttl_ms;']],
    tests: 'model clocks_and_pauses',
  },
  {
    name: 'grants in a quiet period',
    edits: [
      [
        SLOTS,
        'if is_quiet(view, group) { Err(StepError::Quiet { until: group.quiet_until, now: view.now }) } else { Ok(()) }',
        'let _ = group;\n        Ok(())',
      ],
    ],
    tests: 'model losses',
  },
  {
    name: 'a window is raised in a quiet period whatever was answered before',
    edits: [[SLOTS, ' && held.hi > view.now.saturating_add(self.skew(view));', ';']],
    tests: 'model losses',
  },
  {
    name: 'a window is raised in a quiet period without regard to the skew',
    edits: [[SLOTS, 'held.hi > view.now.saturating_add(self.skew(view));', 'held.hi > view.now;']],
    tests: 'model losses',
  },
  {
    name: 'the window before a quiet period continues after it',
    edits: [[SLOTS, 'let lo = if own.hi < view.now && !is_kept { view.now } else { own.lo };', 'let lo = own.lo;']],
    tests: 'model losses',
  },
  {
    name: "a renewal of another owner's slot",
    edits: [
      [SLOTS, 'if record.owner == Some(owner) =>', 'if record.owner.is_some() || record.owner == Some(owner) =>'],
    ],
    tests: 'model clocks_and_pauses slots_that_are_given_back',
  },
  {
    name: 'a renewal of a slot of an earlier life',
    edits: [
      [SLOTS, 'own.is_some_and(|slot| slot.life != group.life)', 'own.is_some_and(|slot| slot.life > group.life)'],
    ],
    tests: 'lease group_life::',
  },
  {
    name: 'an answer from another group record than the decision',
    edits: [[SLOTS, '*nonce == group.nonce && identity', '(*nonce == group.nonce || group.life > 0) && identity']],
    tests: 'lease grants::',
  },
  {
    name: 'an answer that shows another text',
    edits: [[SLOTS, 'known == name && text.as_ref() == Some(to)', 'known == name && text.is_some() && !to.is_empty()']],
    tests: 'model clocks_and_pauses slots_that_are_given_back',
  },
  {
    name: 'an answer with a window that has ended',
    edits: [[SLOTS, '== *name && record.hi >= view.now);', '== *name);']],
    tests: 'lease grants::',
  },
  {
    name: 'a grant or a renewal that only a read shows counts (R9)',
    edits: [[SLOTS, 'name, is_clean: true, .. })', 'name, .. })']],
    tests: 'model an_old_primary_that_lives_on',
  },
  {
    name: 'a slot that an unclean write of this owner took counts without a clean one (R9)',
    edits: [
      [
        SLOTS,
        'return self.grant(view, group, (slot, own.lo.max(view.now), own.hi), seeker, memory);',
        'return Ok(granted(slot, own, view));',
      ],
    ],
    tests: 'model an_old_primary_that_lives_on',
  },
  {
    name: 'a grant that is written again ends earlier than others have seen',
    edits: [[SLOTS, 'own.lo.max(view.now), own.hi)', 'own.lo.max(view.now), view.now)']],
    tests: 'lease grants::',
  },
  {
    name: 'a grant that is written again begins earlier than others have seen',
    edits: [[SLOTS, '(slot, own.lo.max(view.now), own.hi)', '(slot, view.now, own.hi)']],
    tests: 'model clocks_and_pauses',
  },
  {
    name: 'a release ends before the window began',
    edits: [[SLOTS, 'hi: last.max(own.lo.saturating_sub(1))', 'hi: last']],
    tests: 'model slots_that_are_given_back',
  },
  {
    name: 'a released slot keeps nothing of what was used',
    edits: [[SLOTS, 'hi: last.max(own.lo.saturating_sub(1))', 'hi: last.min(own.lo - 1)']],
    tests: 'model slots_that_are_given_back',
  },
  {
    name: "a release of another owner's slot",
    edits: [
      [
        SLOTS,
        'let own = own_slot(view, owner)?.filter(|slot| slot.life == group.life);',
        'let _ = owner;\n        let own = readable(view).map(|(_, slot)| slot).next();',
      ],
    ],
    tests: 'model slots_that_are_given_back clocks_and_pauses',
  },
]
