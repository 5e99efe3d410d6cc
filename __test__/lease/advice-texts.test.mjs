// Every text of the sources that tells what to do is followed in advice.test.mjs, or is harmless to members that are
// generating IDs, for the reason that is given here. A text is harmful if it can lead to a second source of the same numbers: another
// store, path, group, epoch or node.

import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { parseAst } from 'rolldown/parseAst'

const ROOT = path.join(import.meta.dirname, '..', '..')

// biome-ignore format: words
const VERBS = [
  'add', 'ask', 'call', 'change', 'check', 'choose', 'compare', 'configure', 'create', 'delete', 'destroy', 'drop', 'free', 'give',
  'grant', 'install', 'join', 'keep', 'leave', 'let', 'mount', 'move', 'name', 'open', 'pass', 'put', 'raise', 'read', 'recreate',
  'remove', 'rename', 'replace', 'restart', 'restore', 'run', 'select', 'set', 'start', 'stop', 'switch', 'take', 'unset', 'use',
  'wait', 'write',
].join('|')
const IMPERATIVE = new RegExp(
  `(?:^|[.:;(] |, |, (?:or|so|and|but|else) | or )(?:${VERBS}) (?!of |as )|npx flakeforge|\\bmust serve `,
  'i',
)
const isAdvice = (text) => /[a-z,] [a-z]/i.test(text) && IMPERATIVE.test(text)

/** The text of a node, with … for what is put in. */
function textOf(node) {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked).join('…')
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined
  return [node.left, node.right].map((side) => textOf(side) ?? '…').join('')
}

function hasAdvice(node) {
  const text = textOf(node)
  if (text !== undefined && isAdvice(text)) return true
  return Object.values(node).some((part) =>
    [part].flat().some((inner) => typeof inner?.type === 'string' && hasAdvice(inner)),
  )
}

/** The functions, classes and constants of a source in TypeScript that tell what to do. */
function inTypeScript(text) {
  const named = (statement) => {
    const { id, declarations } = statement.declaration ?? statement
    return id?.name ?? declarations?.[0].id.name ?? 'the rest'
  }
  const { body } = parseAst(text, { lang: 'ts' })
  return body.filter((each) => !each.source && hasAdvice(each)).map(named)
}

/** The same of one in Rust. */
function inRust(text) {
  const [code] = text.replace(/^\s*\/\/.*$/gm, '').split(/^#\[cfg\(test\)\]/m)
  const parts = code.split(/\b(?:fn|const|static) (?=\w+[(<:])/).slice(1)
  const advises = (part) =>
    [...part.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].some(([, text]) => isAdvice(text.replace(/\\\n\s*/g, '')))
  return parts.filter(advises).map((part) => /^\w+/.exec(part)[0])
}

function sourcesIn(folder) {
  const all = fs.readdirSync(path.join(ROOT, folder), { recursive: true }).map((file) => path.join(folder, file))
  return all.filter((file) => /\.(?:ts|rs)$/.test(file) && !/\.d\.ts$|(?:^|[\\/])tests(?:\.rs$|[\\/])/.test(file))
}

const found = ['lib', 'bin', 'packages', 'core/src', 'src'].flatMap(sourcesIn).flatMap((file) => {
  const text = fs.readFileSync(path.join(ROOT, file), 'utf8')
  const names = file.endsWith('.rs') ? inRust(text) : inTypeScript(text)
  return [...new Set(names)].map((name) => `${file.replaceAll('\\', '/')} ${name}`)
})

/** Where the advice of each is followed: the title of a test in advice.test.mjs. */
const FOLLOWED = {
  'other options than the group has': [
    'lib/lease/how-to-create.ts howToCreate howToDestroy',
    'lib/lease/mismatch.ts withWayOut',
  ],
  'no free slot': ['lib/base/errors/leases.ts exhaustedError', 'lib/base/errors/codes.ts CODES'],
  'a group that was destroyed': ['lib/base/errors/leases.ts destroyedError'],
  'a generator that was closed': ['lib/base/errors/leases.ts closedLeaseError'],
  'a generator that is detached': ['lib/base/errors/leases.ts detachedError'],
  'a node number that a lease of this process has': [
    'lib/base/errors/sources.ts clashError',
    'lib/base/errors/leases.ts inUseError',
  ],
  'a server of elseFrom that has another store': ['lib/base/errors/remote.ts otherGroupError'],
  'a clock that is too far from that of the store': ['lib/base/errors/leases.ts clockSkewError aheadError'],
  'a record of the group that is damaged': ['lib/base/errors/stores.ts NEW_GROUP'],
  'a folder whose slots were all removed': ['core/src/files/slots.rs reason'],
  'damaged files of a folder': [
    'core/src/files/file_format.rs way_out DAMAGED',
    'core/src/files/shared.rs OVERWRITTEN',
  ],
  'a group whose file another version wrote': ['core/src/files/file_format.rs instead text_of'],
  'a counter whose file another version wrote': ['core/src/files/file_format.rs instead text_of'],
  'a counter whose file is damaged': ['core/src/files/file_format.rs damaged'],
  'a counter whose record is damaged': [
    'lib/base/errors/stores.ts NEW_COUNTER',
    'lib/base/errors/counters.ts closedError',
  ],
  'a counter whose blocks the store may have lost': [
    'lib/base/errors/counters.ts SKIP',
    'core/src/files/counters.rs advance removed',
  ],
  'a group that may grant the node of a function in its database': ['lib/base/errors/stores.ts warnOfDatabaseFunction'],
  'a new group that was not created': ['lib/base/errors/leases.ts quietError quietWarning'],
  'another store': [
    'lib/base/errors/stores.ts useAnother warnOfReplicas',
    'lib/stores/postgres/trust.ts WAY_OUT',
    'lib/stores/redis/durable.ts FACTS refusal',
  ],
}

/** Advice that a running group does not notice, and why. A name ends the path of all files in a folder if that ends in /. */
const HARMLESS = {
  'a check, which changes nothing': [
    'lib/base/errors/stores.ts warnOfQuietGroup warnOfLongCreate',
    'lib/base/errors/leases.ts unreleasedError',
    'lib/stores/call-queue.ts stillRunsError',
  ],
  'how a value, an ID or a text is given': [
    'lib/base/errors/values.ts unknownLayoutError guess SINCE_START otherTime moreError',
    'lib/base/errors/wanted.ts whyNot ANY_ID LOST SIGNED idInBase uuidOfLayout inOrder inTick',
    'lib/base/errors/options.ts storeToConstructorError',
    'lib/base/errors/generators.ts noLongerExactError',
    'lib/codec/json.ts LOST',
    'lib/layout/node-number.ts ordinal',
    'lib/layout/seal-input.ts readTweak readOptions wantedText',
    'lib/reading/text-forms.ts readId',
    'lib/stores/record-answers.ts checkNames',
  ],
  'another call, option or client of this process alone, with the same numbers': [
    'lib/base/errors/counters.ts COUNTER_REFUSALS',
    'lib/base/errors/remote.ts closedRemoteError notExactNameError',
    'lib/base/errors/sources.ts SAME',
    'lib/base/errors/stores.ts endedError',
    'lib/base/uncloneable.ts ONE_THREAD',
    'lib/metrics/prometheus.ts namesMissing',
    'lib/stores/client-packages.ts needed',
    'lib/stores/mysql/client.ts IN_TRANSACTION NO_AUTOCOMMIT SHARED SET_UP SessionRunner',
    'lib/stores/mysql/packages.ts CALLBACKS',
    'lib/stores/postgres/client.ts SILENT CHANGES_TEXTS',
    'lib/stores/postgres/packages.ts IN_TRANSACTION',
    'lib/stores/redis/client.ts BUSY',
    'lib/stores/redis/packages.ts checkPrefix ofIoredis',
    'lib/stores/redis.ts redisStore',
    'lib/stores/open.ts openStore',
  ],
  'it says that IDs of another layout or epoch need another table, or are only safe before the first ID': [
    'lib/base/errors/generators.ts WAY_OUT',
    'lib/base/errors/values.ts SET_CLOCK MOVE LESS_OFFSET warnOfUnit',
    'lib/layout/horizon.ts MEANING',
  ],
  'it says that all processes must do it': [
    'lib/base/errors/options.ts HOMELESS NO_DEFAULT_FOLDER',
    'lib/base/errors/stores.ts twoServersError',
    'lib/layout/ignored-variables.ts warnOfWorker',
    'bin/audit/findings.ts adviceForEqual interleaved',
    'bin/with-addon/new.ts withGenerator',
    'bin/with-addon/slot.ts joinOwnFolder sayWhereFrom OTHER_SLOTS',
    'core/src/files/folder/unix.rs open not_our_folder',
    'core/src/files/shared.rs GONE WENT_BACK',
    'packages/server/lib/ids/stores.ts inContainer',
    'packages/server/lib/serve.ts warnings',
  ],
  'a group with these options was never there': ['lib/lease/slot-nodes.ts noFreeFieldError'],
  'nobody else can use what is at this path': [
    'core/src/files/folder.rs IS_FOLDER IS_SPECIAL dangling too_many_links',
    'core/src/files/folder/elsewhere.rs make',
    'core/src/files/machine.rs check_local',
    'packages/server/lib/http/listen.ts clear',
  ],
  'rights, room or settings of a file, and the same file': [
    'core/src/files/error.rs io',
    'core/src/files/folder/unix.rs check_link',
    'core/src/files/mapped.rs LOST',
    'core/src/files/named_file.rs ONLY_MOUNTED',
  ],
  'another node number too': ['core/src/refusal.rs fmt'],
  'rights, room or settings of a server, or the way to the same one; another one only by useAnother()': [
    'lib/stores/etcd/gateway.ts wayOutOf reasonOf',
    'lib/stores/mysql/address.ts WAYS_OUT readAddress',
    'lib/stores/mysql/client.ts failureOf',
    'lib/stores/mysql/identity.ts checkState checkTables checkVisible checkVariables lossOf',
    'lib/stores/mysql/records.ts NO_DATABASE',
    'lib/stores/mysql/semi-sync.ts WAY_OUT',
    'lib/stores/postgres/address.ts WAYS_OUT readAddress',
    'lib/stores/postgres/client.ts wordsFor StatementRunner',
    'lib/stores/postgres/records.ts WAYS_OUT PostgresRecords',
    'lib/stores/postgres/trust.ts kindFault',
    'lib/stores/redis/acknowledgements.ts unacknowledgedError',
    'lib/stores/redis/durable.ts PROMOTED SETTINGS check',
    'lib/stores/redis/refusals.ts LASTING FIND_PRIMARY',
    'lib/stores/redis/wrong-server.ts wrongServer',
  ],
  'a function of a database, which checks by itself whether another one has its node': [
    'bin/schema/function.ts readName ONLY_OF checkFunctions',
    'lib/stores/database-function.ts checkFit planOf',
    'lib/stores/mysql/function.ts checksOf checkedBy refuseOther functionFor',
    'lib/stores/postgres/function.ts bodyOf OTHER_NAME ownerFault functionFault itemFault functionFor',
  ],
  'functions of a database that read times': [
    'lib/stores/database-times.ts timesPlanOf',
    'lib/stores/mysql/times.ts signal',
    'lib/stores/postgres/times.ts functionFault create raise',
  ],
  'another time for a row, or nodes that no slot has': [
    'lib/base/errors/leases.ts backfillUsedUpError keptByFunctionError keptNodesInUseError pastLostError futureError',
    'lib/base/errors/leases.ts anotherGroupError',
    'core/src/files/group.rs COPIED',
    'lib/lease/past-ids.ts noBackfillError',
  ],
  'it says that a counter begins above what was handed out': ['lib/base/errors/counters.ts destroyedCounterError'],
  'a list that was changed, of which members with an earlier one use what they know': [
    'lib/base/errors/quorum.ts listChangeError warnOfNewerList',
  ],
  'it says that all members of the other group stop first': ['lib/base/errors/quorum.ts listedRecordError'],
  'the stores of a list, before its first ID': [
    'lib/base/errors/quorum.ts listLengthError',
    'lib/stores/open.ts checkAddresses',
  ],
  'the same in a table of a document': ['lib/base/errors/codes.ts FIXES'],
  'no advice, but names of options': ['lib/base/other-names.ts WORDS'],
  'no advice, but code of a server': [
    'lib/stores/postgres/statements.ts BEGAN',
    'lib/stores/postgres/trust.ts useSchema',
    'lib/stores/redis/identity.ts the rest',
  ],
  'the release, server or proxy that this process uses': [
    'lib/base/errors/stores.ts wrongOf',
    'lib/base/errors/remote.ts NO_CACHE',
    'lib/native/',
    'lib/remote/answers.ts faultOf',
    'lib/remote/options.ts readUrl',
  ],
  'the words of a command line, and what a command does': [
    'bin/commands.ts unknown',
    'bin/commands/',
    'bin/parts/',
    'bin/schema/print-schema.ts DATABASES databaseOf run',
    'bin/with-addon/create.ts RUN_AGAIN run',
    'bin/with-addon/destroy.ts run endCounter',
    'bin/with-addon/change-list.ts run',
    'bin/with-addon/counters.ts find run',
    'bin/with-addon/new.ts readCount sourceOf',
    'bin/with-addon/restored.ts namedBy unlisted run',
    'bin/with-addon/slots.ts run',
    'bin/with-addon/stores.ts relativeFolder unnamedStore noGroup',
  ],
  'it reads IDs that were made': [
    'bin/audit/findings.ts lostDigits adviceForStrays malformed',
    'bin/audit/id-list.ts IdList',
    'bin/audit/input.ts Input',
    'bin/audit/report.ts heading',
    'bin/audit/system.ts chooseLayout',
  ],
  'the code of a store that is being written, with groups of the check alone': ['packages/check-store/'],
  'options, requests and answers of one server': [
    'packages/server/lib/config/',
    'packages/server/lib/http/app.ts refuseBody',
    'packages/server/lib/http/problems.ts overloaded',
    'packages/server/lib/http/refusals.ts unmet',
    'packages/server/lib/http/schemas.ts Layout',
    'packages/server/lib/http/waiting.ts busy tooLong',
    'packages/server/lib/routes/',
  ],
}

const entries = [FOLLOWED, HARMLESS].flatMap((list) => Object.values(list).flat())
const folders = entries.filter((entry) => entry.endsWith('/'))
const listed = entries
  .filter((entry) => !entry.endsWith('/'))
  .flatMap((entry) => {
    const [file, ...names] = entry.endsWith(' the rest') ? entry.split(/ (?=the rest$)/) : entry.split(' ')
    return names.map((name) => `${file} ${name}`)
  })

test('every text that tells what to do is followed, or is known to be harmless', (t) => {
  const single = found.filter((each) => !folders.some((folder) => each.startsWith(folder)))
  t.deepEqual(single.toSorted(), [...new Set(listed)].sort())
  for (const folder of folders)
    t.true(
      found.some((each) => each.startsWith(folder)),
      folder,
    )
})

test('the tests that follow advice are there', (t) => {
  const titles = fs.readFileSync(path.join(import.meta.dirname, 'advice.test.mjs'), 'utf8')
  for (const title of Object.keys(FOLLOWED)) t.true(titles.includes(`'${title}`), title)
})

test('advice is found in the texts of both languages', (t) => {
  const typescript =
    "export const ONE = 'It is full. Use another path'\nfunction two() { return `no: ` + 'delete the file' }\nconst three = new Set('a b')"
  t.deepEqual(inTypeScript(typescript), ['ONE', 'two'])
  const rust =
    'const ONE: &str = "is full. \\\n   Use another path";\nfn two() { "was used by another" }\nfn three() { format!("{x}, or use it") }'
  t.deepEqual(inRust(rust), ['ONE', 'three'])
})

/** Advice to have another store stands once, with its condition. */
test('no text says "use another" schema, database, server or store by itself', (t) => {
  const bad = ['lib', 'bin', 'packages', 'core/src', 'src'].flatMap(sourcesIn).filter((file) => {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8').replace(/\/\*.*?\*\/|(?<=^|\s)\/\/.*?$/gms, '')
    return /\b(?:use|name|choose) (?:another|a separate|a different) (?:schema|database|server|store)\b/i.test(text)
  })
  t.deepEqual(bad, [])
})
