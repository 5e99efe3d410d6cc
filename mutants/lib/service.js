'use strict'

// Small changes to flakeforge-server, to metrics and to the warning of a layout's end, each of which a test must notice. See
// mutants/lib.js.

const ids = 'packages/server/lib/routes/ids.js'
const tokens = 'packages/server/lib/http/tokens.js'
const prometheus = 'lib/metrics/prometheus.js'
const families = 'lib/metrics/families.js'
const horizon = 'lib/layout/horizon.js'

module.exports = [
  {
    name: 'n may be larger than 10 000',
    file: ids,
    from: 'if (n <= MOST) return n',
    to: 'return n',
    tests: ['server/ids'],
  },
  {
    name: 'n may be 0',
    file: ids,
    from: '/^[1-9]\\d{0,4}$/',
    to: '/^\\d{1,5}$/',
    tests: ['server/ids'],
  },
  {
    name: 'an unknown parameter is left out of account',
    file: ids,
    from: "if (key !== 'n') throw unknown(key, ['n'])",
    to: '',
    tests: ['server/ids'],
  },
  {
    name: 'all requests of a connection wait at once, before those of others',
    file: 'packages/server/lib/http/waiting.js',
    from: 'await before // which was there first, so its time is up first',
    to: '',
    tests: ['server/limits'],
  },
  {
    name: 'the requests of one client use up the places of others',
    file: 'packages/server/lib/http/waiting.js',
    from: 'known === undefined ? [this.#lines.size,',
    to: 'known === undefined ? [this.count,',
    tests: ['server/ids'],
  },
  {
    name: 'one client may have any number of requests that wait',
    file: 'packages/server/lib/http/waiting.js',
    from: 'if (length >= this.#most) throw',
    to: 'if (known === undefined && length >= this.#most) throw',
    tests: ['server/ids'],
  },
  {
    name: 'a request that need not wait is served before one of its connection that does',
    file: ids,
    from: 'waiting.isOn(socket) ? undefined : ',
    to: '',
    tests: ['server/limits'],
  },
  {
    name: 'IDs may be cached',
    file: ids,
    from: "{ 'cache-control': 'no-store', ...headers }",
    to: '{ ...headers }',
    tests: ['server/ids'],
  },
  {
    name: 'what is no ID may be cached',
    file: 'packages/server/lib/http/app.js',
    from: "reply.header('cache-control', 'no-store')",
    to: '',
    tests: ['server/names'],
  },
  {
    name: 'answers with IDs lack the headers for pages of other origins',
    file: ids,
    from: 'if (isGuarded) list.push(...headersOfHooks(reply))',
    to: '',
    tests: ['server/names'],
  },
  {
    name: 'any token will do',
    file: tokens,
    from: 'if (!this.#has(hash(token))) throw wrong()',
    to: '',
    tests: ['server/tokens'],
  },
  {
    name: 'only the last token counts',
    file: tokens,
    from: 'timingSafeEqual(known, given) || found',
    to: 'timingSafeEqual(known, given)',
    tests: ['server/tokens'],
  },
  {
    name: 'the server is ready without a lease',
    file: 'packages/server/lib/routes/health.js',
    from: 'if (trouble !== undefined) throw unready(trouble)',
    to: '',
    tests: ['server/store'],
  },
  {
    name: 'the server is ready as soon as one name is',
    file: 'packages/server/lib/ids/names.js',
    from: 'troubles.find((each) => each !== undefined)',
    to: '(troubles.includes(undefined) ? undefined : troubles[0])',
    tests: ['server/store'],
  },
  {
    name: 'a counter is counted again at each collection',
    file: prometheus,
    from: '      this.reset() // what',
    to: '      // what',
    tests: ['metrics/prometheus'],
  },
  {
    name: 'metrics are registered twice',
    file: prometheus,
    from: 'registry.getSingleMetric(name) === undefined)',
    to: 'name !== undefined)',
    tests: ['metrics/prometheus'],
  },
  {
    name: "somebody else's metric is taken for ours",
    file: prometheus,
    from: 'registry.getSingleMetric(name) !== metrics.get(name)',
    to: 'metrics.has(undefined)',
    tests: ['metrics/prometheus'],
  },
  {
    name: 'of metrics with the same labels the last one is shown',
    file: families,
    from: 'known === undefined ? value : join(known.value, value)',
    to: 'value',
    tests: ['metrics/leases'],
  },
  {
    name: 'a lease that is closed is measured',
    file: families,
    from: 'leases.living.filter((lease) => !lease.isClosed)',
    to: 'leases.living',
    tests: ['metrics/leases'],
  },
  {
    name: "the warning of a layout's end comes each time",
    file: horizon,
    from: 'if (!native.isFirstToWarn(',
    to: 'if (!String(',
    tests: ['metrics/horizon'],
  },
  {
    name: 'an end that has passed is warned of',
    file: horizon,
    from: 'else if (now < at) warn',
    to: 'else warn',
    tests: ['metrics/horizon'],
  },
]
