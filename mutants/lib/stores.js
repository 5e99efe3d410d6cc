'use strict'

// Small changes to the stores, each of which a test must notice. See mutants/index.js.

const etcd = 'lib/stores/etcd'

module.exports = [
  {
    name: 'the revision that was seen may fall',
    file: `${etcd}/gateway.js`,
    from: 'isBack ? Number(revision) : Math.max(this.#revision, Number(revision))',
    to: 'Number(revision)',
    tests: ['store-etcd-race'],
  },
  {
    name: 'a refused token is renewed by each call',
    file: `${etcd}/gateway.js`,
    from: 'if (this.#token === token) await this.#authenticate()',
    to: 'await this.#authenticate()',
    tests: ['store-etcd-access'],
  },
  {
    name: 'a call asks every endpoint, however long they are silent',
    file: `${etcd}/gateway.js`,
    from: 'asked < endpoints.length && left > 0',
    to: 'asked < endpoints.length',
    tests: ['store-etcd-cluster'],
  },
  {
    name: 'each call begins with the first endpoint',
    file: `${etcd}/gateway.js`,
    from: 'const index = this.#turn',
    to: 'const index = asked',
    tests: ['store-etcd-cluster'],
  },
  {
    name: 'the first live keys are taken for all',
    file: `${etcd}/transaction.js`,
    from: 'const isWhole = alive.length < LIMIT',
    to: 'const isWhole = true',
    tests: ['store-etcd'],
  },
  {
    name: 'a transaction compares no value',
    file: `${etcd}/keys.js`,
    from: "    { ...target, target: 'VALUE', value: toBase64(seen.value) },\n",
    to: '',
    tests: ['store-etcd-race'],
  },
  {
    name: 'an etcd lease is held once for all attempts',
    file: 'lib/stores/etcd.js',
    from: 'if (now - heldAt < HELD_MS) return',
    to: 'if (heldAt > Number.NEGATIVE_INFINITY) return',
    tests: ['store-etcd-race'],
  },
  {
    name: 'the bound of a step leaves its timer',
    file: 'lib/in-time.js',
    from: '    clearTimeout(timer)\n',
    to: '',
    tests: ['in-time'],
  },
  {
    name: 'a lost slot of a folder stays held',
    file: 'lib/stores/file.js',
    from: '    if (ended !== null) this.#held.delete(owner)\n',
    to: '',
    tests: ['join-file-store'],
  },
  {
    name: "the client's clock stands still while a statement is tried again",
    file: 'lib/stores/postgres/client.js',
    from: 'Math.trunc(values.clientNow + passed())',
    to: 'values.clientNow',
    tests: ['store-postgres-clients'],
  },
  {
    name: 'a Client of pg gets a query during another',
    file: 'lib/stores/postgres/client.js',
    from: 'return inTurn(() => calls.send(...args))',
    to: 'return calls.send(...args)',
    tests: ['store-postgres-clients'],
  },
  {
    name: 'a Client of pg makes the tables during a query',
    file: 'lib/stores/postgres/client.js',
    from: 'return { ...calls, send, make: (text) => inTurn(() => calls.make(text)) }',
    to: 'return { ...calls, send }',
    tests: ['store-postgres-clients'],
  },
  {
    name: "a query without an answer keeps its connection of the user's pool",
    file: 'lib/stores/postgres/client.js',
    from: ', query_timeout: QUERY_MS }',
    to: ' }',
    tests: ['store-postgres-clients'],
  },
  {
    name: 'an older connection error is the cause',
    file: 'lib/stores/redis/client.js',
    from: 'seen !== undefined && seen.at >= start',
    to: 'seen !== undefined',
    tests: ['store-redis-clients'],
  },
  {
    name: 'an answer from another database is used',
    file: 'lib/stores/redis/database.js',
    from: '    this.#verify() // ioredis',
    to: '    // ioredis',
    tests: ['store-redis-database'],
  },
  {
    name: 'groups on Redis begin again under other keys',
    file: 'lib/stores/redis.js',
    from: '=> `flakeforge:{',
    to: '=> `flakeforge-2:{',
    tests: ['upgrade'],
  },
  {
    name: 'groups on etcd begin again under other keys',
    file: 'lib/stores/etcd/keys.js',
    from: '=> `flakeforge/group/',
    to: '=> `flakeforge/group-2/',
    tests: ['upgrade'],
  },
  {
    name: 'an error names the kind of a client instead of its fault',
    file: 'lib/stores/redis/client.js',
    from: "clientError(client, 'its db is NaN: give one whose db is a number')",
    to: "optionTypeError('client', client, WANTED)",
    tests: ['store-redis-clients'],
  },
]
