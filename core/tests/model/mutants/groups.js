'use strict'

// Mistakes in how a group begins, is quiet, and ends.

const GRANTS = 'lease/grants.rs'
const RECORD = 'lease/grants/record.rs'
const STEP = 'lease/grants/step.rs'
const GROUP = 'lease/grants/group.rs'

module.exports = [
  {
    name: 'a renewal creates a group (R10)',
    edits: [
      [GROUP, '            Task::Renew(_, held) => return without_group(view, held),\n', ''],
      [GROUP, '            Task::Renew(_, held) => without_group(view, held),\n', ''],
    ],
    tests: 'model losses',
  },
  {
    name: 'create and destroy count without a clean answer (R9)',
    edits: [[GROUP, '!plan.is_clean && plan.to == group.text()', 'plan.is_clean && plan.to.is_empty()']],
    tests: 'lease group_life::',
  },
  {
    name: 'a command that ends an absent group knows its skew',
    edits: [
      [
        GROUP,
        'let known = group.quiet_until.saturating_add(unknown);',
        'let known = group.quiet_until.saturating_add(unknown * 0);',
      ],
    ],
    tests: 'model groups_begin_and_end',
  },
  {
    name: 'a loss that a position showed counts as noted in a group that ends',
    edits: [
      [
        GRANTS,
        '            && matches!(group.state, Stage::Live(_)) // in all other states a loss is still to be noted\n',
        '',
      ],
    ],
    tests: 'model a_loss_that_ends_with_its_group',
  },
  {
    name: 'the end of a durable group forgets a loss that a position showed',
    edits: [[GROUP, 'if config.durable && !view.is_lost {', 'if config.durable {']],
    tests: 'lease losses::',
  },
  {
    name: 'a quiet period 1 ms too short',
    edits: [[GROUP, '.saturating_add(skew_ms).saturating_add(1)', '.saturating_add(skew_ms)']],
    tests: 'model losses',
  },
  {
    name: 'a quiet period without the skew',
    edits: [[GROUP, 'surely_over(view.now, ttl_ms, self.skew(view))', 'surely_over(view.now, ttl_ms, 0)']],
    tests: 'model losses',
  },
  {
    name: 'a quiet period as long as the ttl of the client that finds the loss',
    edits: [
      [
        GROUP,
        'self.quiet_from(view, self.sent.limits.longest_ttl_ms)',
        'self.quiet_from(view, self.config().map_or(self.sent.limits.longest_ttl_ms, |config| config.ttl_ms))',
      ],
    ],
    tests: 'model groups_begin_and_end',
  },
  {
    name: 'the first read begins a group',
    edits: [
      [
        GROUP,
        'let group = GroupRecord { state: Stage::Unknown, identity, nonce, ..GroupRecord::default() };\n        self.write_group(view, group, memory)',
        `let (state, life) = self.config().map_or((Stage::Unknown, 0), |config| (Stage::Live(config.clone()), 1));
        let quiet_until = self.unknown_until(view);
        self.write_group(view, GroupRecord { state, life, quiet_until, identity, nonce, ..GroupRecord::default() }, memory)`,
      ],
    ],
    tests: 'model losses_between_a_read_and_a_swap groups_begin_and_end',
  },
  {
    name: 'a restored group is not quiet',
    edits: [
      [
        GROUP,
        'let quiet_until = group.quiet_until.max(self.unknown_until(view));\n        let (lineage,',
        'let quiet_until = group.quiet_until;\n        let (lineage,',
      ],
    ],
    tests: 'model losses_that_an_operator_reports',
  },
  {
    name: 'a restored group is quiet 1 ms too short',
    edits: [
      [
        GROUP,
        'let quiet_until = group.quiet_until.max(self.unknown_until(view));\n        let (lineage,',
        'let quiet_until = group.quiet_until.max(self.unknown_until(view) - 1);\n        let (lineage,',
      ],
    ],
    tests: 'model losses_that_an_operator_reports',
  },
  {
    name: 'a lower position of another history is a loss',
    edits: [
      [
        'lease/grants/memory.rs',
        '.find(|(known, _)| known == history)',
        '.find(|(known, _)| known == history || !history.is_empty())',
      ],
    ],
    tests: 'lease losses::',
  },
  {
    name: 'an absent group is a new one',
    edits: [
      [
        GROUP,
        'let quiet_until = group.quiet_until.max(self.unknown_until(view));\n        let identity = view.identity.clone();\n        match',
        'let quiet_until = group.quiet_until;\n        let identity = view.identity.clone();\n        match',
      ],
    ],
    tests: 'model losses losses_between_a_read_and_a_swap',
  },
  {
    name: 'create does not check how much time passed',
    edits: [[GROUP, 'is_soon && *nonce', '(is_soon || view.now > *at) && *nonce']],
    tests: 'model groups_begin_and_end',
  },
  {
    name: 'create proves more than once',
    edits: [[GROUP, 'self.birth.is_spoilt = self.birth.first.is_some();', 'self.birth.is_spoilt = false;']],
    tests: 'model groups_begin_and_end',
  },
  {
    name: 'create does not check whose text it finds',
    edits: [[GROUP, '*nonce == group.nonce && group.identity', '(*nonce == group.nonce || *at > 0) && group.identity']],
    tests: 'lease group_life::',
  },
  {
    name: 'create under another identity',
    edits: [
      [
        GROUP,
        '&& group.identity == *identity && view.identity == *identity',
        '&& (group.identity == *identity || *at > 0)',
      ],
    ],
    tests: 'lease group_life::',
  },
  {
    name: 'a created group is not quiet at all',
    edits: [[GROUP, 'self.quiet_from(view, self.sent.limits.create_within_ms)', 'group.quiet_until']],
    tests: 'model groups_begin_and_end',
  },
  {
    name: 'the end of a group counts from the first read',
    edits: [
      [
        GROUP,
        'let state = Stage::Ending(config.clone());\n            return self.write_group(view, GroupRecord { state, nonce, ..group.clone() }, memory);',
        `let state = Stage::Destroyed { durable: config.durable };
            let quiet_until = group.quiet_until.max(surely_over(view.now, self.sent.limits.longest_ttl_ms, config.skew_ms));
            return self.write_group(view, GroupRecord { state, quiet_until, nonce, ..group.clone() }, memory);`,
      ],
    ],
    tests: 'model groups_begin_and_end ends_between_a_read_and_a_swap',
  },
  {
    name: 'the end of a group leaves no quiet period',
    edits: [
      [
        GROUP,
        'let quiet_until = group.quiet_until.max(surely_over(view.now, longest, config.skew_ms));',
        'let _ = longest;\n                let quiet_until = group.quiet_until;',
      ],
    ],
    tests: 'model groups_begin_and_end ends_between_a_read_and_a_swap',
  },
  {
    name: 'the end of a group leaves a quiet period 1 ms too short',
    edits: [
      [GROUP, 'surely_over(view.now, longest, config.skew_ms)', 'surely_over(view.now - 1, longest, config.skew_ms)'],
    ],
    tests: 'model groups_begin_and_end ends_between_a_read_and_a_swap',
  },
  {
    name: 'a successor grants before the quiet period of the tombstone is over',
    edits: [[GROUP, 'let quiet_until = if is_same { known } else', 'let quiet_until = if is_same { 0 } else']],
    tests: 'model groups_begin_and_end ends_between_a_read_and_a_swap',
  },
  {
    name: 'a successor under another identity is not quiet again',
    edits: [[GROUP, 'let quiet_until = if is_same {', 'let quiet_until = if is_same || group.life > 0 {']],
    tests: 'model groups_begin_and_end ends_between_a_read_and_a_swap',
  },
  {
    name: 'lives are not counted',
    edits: [[GROUP, 'let life = group.life.checked_add(1)', 'let life = group.life.checked_add(0)']],
    tests: 'lease group_life::',
  },
  {
    name: 'members with other options share a group',
    edits: [
      [
        GROUP,
        'self.config().is_some_and(|ours| ours != config)',
        'self.config().is_some_and(|ours| ours != config && ours.slots == 0)',
      ],
    ],
    tests: 'model groups_begin_and_end',
  },
  {
    name: 'identities are not compared',
    edits: [
      [GROUP, 'if view.is_lost || !group.identity.matches(&view.identity, config.durable) {', 'if view.is_lost {'],
    ],
    tests: 'model losses',
  },
  {
    name: 'the process is not compared',
    edits: [
      [
        RECORD,
        '(durable || same(&self.process, &now.process))',
        '(durable || !self.process.is_empty() || same(&self.process, &now.process))',
      ],
    ],
    tests: 'model losses',
  },
  {
    name: 'the history is not compared',
    edits: [[RECORD, 'same(&self.history, &now.history) && (durable', '(durable']],
    tests: 'model losses stores_that_members_vouch_for',
  },
  {
    name: 'a recorded history that was empty matches any',
    edits: [
      [
        RECORD,
        'recorded == shown || shown.is_empty();',
        'recorded == shown || shown.is_empty() || recorded.is_empty();',
      ],
    ],
    tests: 'model losses stores_that_members_vouch_for',
  },
  {
    name: 'the swap carries another identity than the read',
    edits: [
      [
        STEP,
        'let identity = view.identity.clone();\n        let losses',
        'let identity = view.group.as_ref().map_or(&view.identity, |group| &group.identity).clone();\n        let losses',
      ],
    ],
    tests: 'model losses',
  },
  {
    name: 'a position that fell is not noted',
    edits: [
      [
        GRANTS,
        'let is_lost = memory.is_lost(GROUP, &self.name, &self.sent);',
        'let is_lost = memory.is_lost(GROUP, &self.name, &self.sent) && false;',
      ],
    ],
    tests: 'model losses',
  },
  {
    name: 'a position that fell counts as noted before the record says so',
    edits: [
      [
        'lease/grants/memory.rs',
        '*self.noted.entry((kind, name.to_owned())).or_insert(sent.losses) < self.losses',
        '*self.noted.entry((kind, name.to_owned())).or_insert(sent.losses) > self.losses',
      ],
    ],
    tests: 'model losses',
  },
  {
    name: 'a durable group compares processes',
    edits: [
      [
        RECORD,
        '(durable || same(&self.process, &now.process))',
        '(same(&self.process, &now.process) || durable && now.process.is_empty())',
      ],
    ],
    tests: 'lease losses::',
  },
  {
    name: 'a slot of a newer version is passed over like a damaged one',
    edits: [
      [GROUP, 'if let Some(refused) = refusal(&view) {', 'if let Some(refused) = refusal(&view).filter(|_| false) {'],
    ],
    tests: 'model newer_versions',
  },
  {
    name: 'a group of a newer version counts as absent',
    edits: [
      [
        GRANTS,
        'group.transpose().map_err(|why| StepError::Record(GROUP.to_owned(), why))?',
        'group.and_then(|group| group.ok())',
      ],
    ],
    tests: 'model newer_versions',
  },
  {
    name: 'a newer version is treated as damage',
    edits: [[RECORD, 'Some(version) if version > VERSION =>', 'Some(version) if version > VERSION + 1 =>']],
    tests: 'model newer_versions',
  },
]
