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
      ['lease/grants/counters.rs', 'is_lost || group.lost > 0 || !group.identity.matches(identity, true)', 'false'],
    ],
    tests: 'model counters_of_past_moments',
  },
  {
    name: 'a counter of the past does not look whether the group has noted a loss',
    edits: [['lease/grants/counters.rs', 'is_lost || group.lost > 0 ||', 'is_lost ||']],
    tests: 'model counters_of_past_moments',
  },
  {
    name: 'a counter of the past gives numbers to members of earlier groups',
    edits: [
      [
        'lease/grants/counters.rs',
        'own_group(group.as_ref(), own)?',
        'own_group(group.as_ref(), group.as_ref().map_or(own, |group| group.lineage))?',
      ],
    ],
    tests: 'model counters_of_past_moments',
  },
  {
    name: 'a client that knows lost numbers of the past does not tell',
    edits: [
      [
        'lease/grants/counters.rs',
        'kept if known.is_some_and(|known| kept.as_ref()',
        'kept if known.is_some_and(|known| false && kept.as_ref()',
      ],
    ],
    tests: 'lease counters::a_loss_of_past_moments_stops_all_of_them',
  },
  {
    name: 'a group forgets that its predecessor had other nodes',
    edits: [
      [
        'lease/grants/group.rs',
        'let others = if is_same && fingerprint == config.fingerprint {',
        'let others = if is_same {',
      ],
    ],
    tests: 'model ids_of_the_past_after_the_end_of_a_group',
  },
  {
    name: 'IDs of the past may have times of groups with other nodes',
    edits: [['lease/grants/group.rs', 'Some(group.others).filter(|&others| others > 0)', 'None']],
    tests: 'model ids_of_the_past_after_the_end_of_a_group',
  },
  {
    name: 'a group forgets the groups before its predecessor',
    edits: [
      [
        'lease/grants/group.rs',
        'fingerprint == config.fingerprint { group.others.max(group.lost) }',
        'fingerprint == config.fingerprint { group.lost }',
      ],
    ],
    tests: 'lease group_life::a_group_knows_until_when_groups_with_other_nodes_were_there',
  },
  {
    name: 'IDs of the past by the record of an earlier group, which a loss brought back',
    edits: [['lease/grants/view.rs', '_ if group.lineage != lineage =>', '_ if lineage == 0 =>']],
    tests: 'model ids_of_the_past_after_the_end_of_a_group',
  },
  {
    name: 'a group forgets that the store lost windows of its predecessor',
    edits: [['lease/grants/group.rs', 'group.others.max(group.lost)', 'group.others']],
    tests: 'model ids_of_the_past_after_the_end_of_a_group',
  },
  {
    name: 'the end of a group is that of its quiet period alone',
    edits: [
      ['lease/grants/group.rs', 'group.ended.max(quiet_until).max(last)', 'group.ended.max(quiet_until.max(last * 0))'],
    ],
    tests: 'lease group_life::the_end_of_a_group_is_that_of_its_last_window_even_if_the_clock_was_set_back',
  },
  {
    name: 'the end of a group is that of the windows that the store still knows',
    edits: [['lease/grants/group.rs', 'group.ended.max(quiet_until).max(last)', 'group.ended.max(last)']],
    tests: 'lease group_life::a_group_knows_until_when_groups_with_other_nodes_were_there',
  },
  {
    name: 'a call that ends a counter ends the next one too',
    edits: [
      ['lease/grants/counters.rs', 'if *self.birth.ends.get_or_insert(counter.life) != counter.life {', 'if false {'],
    ],
    tests: 'model counters_that_end',
  },
  {
    name: 'a member of a counter that ended takes numbers of the next one',
    edits: [
      [
        'lease/grants/counters.rs',
        'if init.is_none() && (is_anew || counter.is_destroyed) {',
        'if init.is_none() && counter.is_destroyed {',
      ],
    ],
    tests: 'model counters_that_end',
  },
  {
    name: 'an ended counter continues',
    edits: [
      [
        'lease/grants/counters.rs',
        'if init.is_none() && (is_anew || counter.is_destroyed) {',
        'if init.is_none() && is_anew {',
      ],
    ],
    tests: 'model counters_that_end',
  },
  {
    name: 'the counters of a moment and of its span give the same numbers',
    edits: [['lease/backfill.rs', 'let first = self.of_spans.saturating_add(first);', '']],
    tests: 'model past_moments',
  },
  {
    name: 'a majority of one (quorum)',
    edits: [['lease/quorum/stores.rs', 'self.len() / 2 + 1', '1']],
    tests: 'model quorum::',
  },
  {
    name: 'phase 1 without a write (Q3)',
    edits: [
      [
        'lease/quorum/round.rs',
        'acceptor.text = Some(text);\n            acceptor.at = At::Promising(call);',
        'let _ = (call, text);\n            acceptor.at = At::Promised;',
      ],
    ],
    tests: 'model quorum::',
  },
  {
    name: 'a store that lost its data votes at once (Q5)',
    edits: [
      [
        'lease/quorum/fill.rs',
        'epoch: 0,\n            state: SeatState::Fills,',
        'epoch: self.shown.as_ref().map_or(1, |view| view.epoch(era)),\n            state: SeatState::Votes,',
      ],
    ],
    tests: 'model quorum::',
  },
  {
    name: 'a fill without new rounds (Q6)',
    edits: [
      [
        'lease/quorum/fill.rs',
        'self.names.extend(names.iter().filter(|name| ![SEAT, LIST].contains(&name.as_str())).cloned());',
        '',
      ],
    ],
    tests: 'model quorum::',
  },
  {
    name: 'a fill that writes no epoch to the others (Q6)',
    edits: [
      [
        'lease/quorum/fill.rs',
        'SeatRecord { epoch: self.epoch, at: 0, nonce: turn.bits(), ..shown',
        'SeatRecord { nonce: turn.bits(), ..shown',
      ],
    ],
    tests: 'model quorum::',
  },
  {
    name: 'a fill that does not look for the epochs that were promised to others (Q6)',
    edits: [['lease/quorum/fill.rs', '.max(view.promised_epoch(self.era, 0)) + 1', ' + 1']],
    tests: 'model quorum::directed::fills_with_an_epoch_of_their_own',
  },
  {
    name: 'a late promise with an epoch that two fills have (Q2)',
    edits: [['lease/quorum/fill.rs', '.max(view.promised_epoch(self.era, 0)) + 1', ' + 1']],
    tests: 'model quorum::directed::a_late_promise_with_the_epoch_of_a_fill_that_died',
  },
  {
    name: 'a fill with an epoch that nobody promised (Q6)',
    edits: [
      ['lease/quorum/fill.rs', 'Some(Outcome::Done) => {', 'Some(_) => {'],
      [
        'lease/quorum/fill.rs',
        '                Some(_) => Ok(Went::Wrong), // another fill may have been faster\n',
        '',
      ],
    ],
    tests: 'model quorum::directed::a_fill_without_the_promise_of_its_epoch',
  },
  {
    name: 'a store that was filled once counts as empty for ever (Q4)',
    edits: [['lease/quorum/fill.rs', 'epoch: self.epoch, at: 0, nonce', 'epoch: self.epoch, nonce']],
    tests: 'model quorum::directed::stores_that_are_filled_one_after_another',
  },
  {
    name: 'reads without agreement (Q4)',
    edits: [
      ['lease/quorum/view.rs', '.filter(|other| agree(one, other))', '.filter(|other| agree(one, other) || true)'],
    ],
    tests: 'model quorum::',
  },
  {
    name: 'a read in which only stores that were filled show the highest epoch (Q4)',
    edits: [['lease/quorum/view.rs', 'shown.epoch() == highest && !shown.was_filled()', 'shown.epoch() == highest']],
    tests: 'model quorum::directed::snapshots_from_before_and_after_a_fill',
  },
  {
    name: "ballots above the seats' epochs, but not above those of promises (Q2)",
    edits: [
      [
        'lease/quorum/round.rs',
        'highest.clone().map(|promised| promised.epoch).fold(epoch.max(view.epoch(era)), u32::max)',
        'epoch.max(view.epoch(era))',
      ],
    ],
    tests: 'model quorum::',
  },
  {
    name: 'ballots without an epoch (Q2)',
    edits: [
      [
        'lease/quorum/ballot.rs',
        'Self { epoch, number, id: bits % IDS }',
        'Self { epoch: epoch.min(1), number, id: bits % IDS }',
      ],
    ],
    tests: 'model quorum::directed::a_late_promise_after_a_fill',
  },
  {
    name: 'a repetition takes any value for its own (Q3)',
    edits: [
      [
        'lease/quorum/round.rs',
        'Goal::Confirm { to } if highest == Some(to) => to,\n            Goal::Complete =>',
        'Goal::Confirm { .. } | Goal::Complete =>',
      ],
    ],
    tests: 'model quorum::',
  },
  {
    name: 'a round chooses the value with the lowest ballot (Q3)',
    edits: [['lease/quorum/round.rs', 'promised.max_by_key(', 'promised.min_by_key(']],
    tests: 'model quorum::',
  },
  {
    name: 'a reserved ballot is used twice (Q3)',
    edits: [
      [
        'lease/quorum/memory.rs',
        'self.reserved.remove(&(group.to_owned(), name.to_owned()))',
        'self.reserved.get(&(group.to_owned(), name.to_owned())).copied()',
      ],
    ],
    tests: 'model quorum::',
  },
  {
    name: 'an era is entered again (Q7)',
    edits: [
      ['lease/quorum/era.rs', 'if !late.is_empty() {', 'if false {'],
      ['lease/quorum/era.rs', ' && seat.bound == bound', ''],
    ],
    tests: 'model quorum::directed::a_loss_while_an_era_starts',
  },
  {
    name: 'a new era after snapshots from different moments (Q7)',
    edits: [['lease/quorum/era.rs', ' || has_votes && !is_same', '']],
    tests: 'model quorum::directed::a_look_from_before_and_after_a_fill',
  },
  {
    name: 'a value that fewer than a majority have stays there (Q3)',
    edits: [['lease/quorum/swap.rs', 'agreed.values[0] != highest.as_deref()', 'agreed.values.is_empty()']],
    tests: 'model quorum::directed::a_value_that_one_store_has',
  },
  {
    name: 'a store that answers late is left behind (Q3)',
    edits: [
      ['lease/quorum/round.rs', 'if vote.promised <= self.ballot && self.acceptors', 'if false && self.acceptors'],
    ],
    tests: 'lease quorum::the_slowest_store_is_not_left_behind',
  },
  {
    name: 'a fill that begins while another one is at work (Q6)',
    edits: [['lease/quorum/fill.rs', 'claims.any(|(seat, now)|', 'false && claims.any(|(seat, now)|']],
    tests: 'model quorum::directed::a_fill_during_another_one',
  },
  {
    name: 'a claim that is never taken over (Q6)',
    edits: [
      [
        'lease/quorum/fill.rs',
        'now.saturating_sub(seat.at) < turn.bounds.ms',
        'now.saturating_sub(seat.at) < i64::MAX',
      ],
    ],
    tests: 'model quorum::directed::a_fill_during_another_one',
  },
  {
    name: 'a promise that nobody will find counts after a change of the list (Q9)',
    edits: [
      ['lease/quorum/round.rs', 'if is_clean && acceptor.is_new =>', 'if false && is_clean && acceptor.is_new =>'],
    ],
    tests: 'model quorum::directed::a_late_promise_after_a_change',
  },
  {
    name: 'a store that was replaced still counts (Q9)',
    edits: [
      [
        'lease/quorum/view.rs',
        'list.takes(&shown.label, &seat.list));',
        'list.takes(&shown.label, &seat.list) || true);',
      ],
    ],
    tests: 'model quorum::directed::a_late_promise_after_a_change',
  },
  {
    name: 'a store that was replaced, and answers late, joins a round (Q9)',
    edits: [['lease/quorum/round.rs', 'if *view.list() != *self.list {', 'if false && *view.list() != *self.list {']],
    tests: 'model quorum::directed::a_late_answer_of_a_store_that_was_replaced',
  },
  {
    name: 'a store that is replaced does not get the new list (Q9)',
    edits: [
      [
        'lease/quorum/change.rs',
        'filter(|shown| !has(shown, &list))',
        'filter(|shown| list.has(&shown.label) && !has(shown, &list))',
      ],
    ],
    tests: 'model quorum::directed::a_member_with_a_list_from_before_two_changes',
  },
  {
    name: 'a store that lost its data counts as one that knows no other list (Q1)',
    edits: [['lease/quorum/view.rs', 'filter(|shown| shown.record.is_some()).count()', 'count()']],
    tests: 'model quorum::directed::growing',
  },
  {
    name: 'a list that is not agreed on is written (Q9)',
    edits: [['lease/quorum/change.rs', 'Some(_) => self.read(turn), // which', 'Some(_) => self.find(turn), // which']],
    tests: 'model quorum::directed::two_changes_at_the_same_time',
  },
  {
    name: 'a store that comes back into the list counts at once (Q9)',
    edits: [['lease/quorum/stores.rs', 'is_known && !self.had(label))', 'is_known)']],
    tests: 'model quorum::directed::a_store_that_comes_back_into_the_list',
  },
  {
    name: 'a list of which a majority is missing (Q9)',
    edits: [['lease/quorum/change.rs', 'if !looked.keeps_majority', 'if false && !looked.keeps_majority']],
    tests: 'model quorum::directed::changes_that_are_refused',
  },
  {
    name: 'fills that are tried again at fixed times (Q6)',
    edits: [
      [
        'lease/quorum/memory.rs',
        '.saturating_add(FILL_MS).saturating_add(more)',
        '.saturating_add(FILL_MS + 0 * more)',
      ],
    ],
    tests: 'model quorum::directed::two_fills_at_the_same_time',
  },
  {
    name: 'a fill that waits for all stores before its claim (Q6)',
    edits: [
      [
        'lease/quorum/fill.rs',
        'At::Looking(Collect::all(Vec::new(), Patience::Voters(self.seat), turn))',
        'At::Looking(Collect::all(Vec::new(), Patience::All, turn))',
      ],
    ],
    tests: 'model quorum::directed::a_fill_while_a_store_is_silent',
  },
  {
    name: 'a fill that waits for all stores after its claim (Q6)',
    edits: [
      [
        'lease/quorum/fill.rs',
        'At::Choosing(Collect::all(vec![LIST.to_owned()], Patience::Voters(self.seat), turn))',
        'At::Choosing(Collect::all(vec![LIST.to_owned()], Patience::All, turn))',
      ],
    ],
    tests: 'model quorum::directed::a_fill_while_a_store_is_silent',
  },
  {
    name: 'a store that missed a change refuses the new list alone (Q1)',
    edits: [
      ['lease/quorum/view.rs', 'if seated < self.own.majority() &&', 'if false && seated < self.own.majority() &&'],
    ],
    tests: 'model quorum::directed::growing',
  },
  {
    name: 'a change that waits for all stores before it is agreed on (Q9)',
    edits: [['lease/quorum/change.rs', 'Patience::Successors(self.to.clone())', 'Patience::All']],
    tests: 'model quorum::directed::a_change_while_a_store_is_silent',
  },
  {
    name: 'a change that waits for all stores once it is agreed on (Q9)',
    edits: [
      [
        'lease/quorum/change.rs',
        'Patience::Successors(to)',
        'if to.is_empty() { Patience::Successors(to) } else { Patience::All }',
      ],
    ],
    tests: 'model quorum::directed::a_change_while_a_store_is_silent',
  },
  {
    name: 'a change that does not wait for the majority that it needs (Q9)',
    edits: [['lease/quorum/collect.rs', ' && self.view.keeps_majority(era, to)', '']],
    tests: 'model quorum::directed::a_change_while_a_store_is_silent',
  },
  {
    name: 'a change that does not wait for the new store (Q9)',
    edits: [['lease/quorum/collect.rs', 'coming.all(|label| has(&|shown| shown.label == *label)) && ', '']],
    tests: 'model quorum::directed::a_change_while_a_store_is_silent',
  },
  {
    name: 'a claim without a majority (Q6)',
    edits: [
      [
        'lease/quorum/collect.rs',
        'let is_enough = self.view.era().is_some_and(|era| match',
        'let is_enough = self.view.shown.iter().find_map(Shown::voting).is_some_and(|era| match',
      ],
      [
        'lease/quorum/fill.rs',
        'let Some(era) = view.era() else { return Went::Wrong };',
        'let Some(era) = view.shown.iter().find_map(Shown::voting) else { return Went::Wrong };',
      ],
    ],
    tests: 'model quorum::directed::no_fill_without_a_majority',
  },
  {
    name: 'a store is filled from seats with the earlier list (Q9)',
    edits: [['lease/quorum/fill.rs', '.filter(has_it);', '.filter(|shown| has_it(shown) || true);']],
    tests: 'model quorum::directed::no_fill_from_seats_with_the_earlier_list',
  },
  {
    name: 'a new store votes before it is filled (Q9)',
    edits: [
      [
        'lease/quorum/fill.rs',
        'epoch: 0,\n            state: SeatState::Fills,',
        'epoch: self.shown.as_ref().map_or(1, |view| view.epoch(era)),\n            state: match shown.record {\n                None => SeatState::Votes,\n                Some(_) => SeatState::Fills,\n            },',
      ],
    ],
    tests: 'model quorum::directed::a_new_store_does_not_vote_before_it_is_filled',
  },
  {
    name: "a late answer joins a round below its seat's epoch (Q2)",
    edits: [['lease/quorum/round.rs', 'view.epoch(self.era) <= self.ballot.epoch', 'self.ballot.epoch > 0']],
    tests: 'model quorum::directed::a_late_answer_of_a_store_that_was_filled',
  },
]
