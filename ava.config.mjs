// How the tests of the package run. Those that wait longest, for servers and for windows to end, begin first: the last of them
// would else be alone in the end.

const LONGEST = [
  'check-store/check-store',
  'behaviour/redis',
  'stores/renewal-messages',
  'behaviour/mysql',
  'behaviour/postgres',
  'stores/tls',
  'stores/mysql-standby',
  'stores/quorum-members',
  'stores/quorum-change',
  'package/release',
  'command/database-function',
  'stores/mysql-records',
  'command/secrets',
  'page/page',
  'command/groups-command',
  'service/client-tls',
  'files/shared-files',
  'lease/segment/unique',
  'service/client-faults',
  'lease/advice',
  'behaviour/quorum',
  'service/client-replays',
  'documents/examples-leases',
  'files/join-file',
  'files/shared-processes',
]

const turnOf = (file) => {
  const turn = LONGEST.findIndex((name) => file.replaceAll('\\', '/').endsWith(`/${name}.test.mjs`))
  return turn < 0 ? LONGEST.length : turn
}

/** What tests meet on purpose: groups that are quiet, stores that fail, stores of a list that are away or change, replicas without the settings
 * for them, stores that take no writes for now, random epochs, clocks that begin at 1970, the warnings of a test, groups that may grant the node of a function in the database. */
const EXPECTED = [
  'QUIET',
  'RENEWAL',
  'STORE_AWAY',
  'STORE_LIST',
  'SPLIT_BRAIN',
  'WAIT',
  'EPOCH',
  'NODE_IN_USE',
  'TIME',
  'TEST',
]

export default {
  files: ['__test__/**/*.test.mjs'],
  sortTestFiles: (a, b) => turnOf(a) - turnOf(b) || a.localeCompare(b),
  timeout: '5m',
  require: ['./scripts/ava-end.js'],
  workerThreads: false,
  nodeArguments: EXPECTED.map((code) => `--disable-warning=FLAKEFORGE_${code}`),
}
