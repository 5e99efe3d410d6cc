'use strict'

// Who may require whom, as `npm run lint` checks it. A `require` inside a function counts like any other.

const { builtinModules } = require('node:module')
const { LIB } = require('./scripts/rooms.js')

const ROOMS = Object.keys(LIB)
const filesIn = (rooms) => `^lib/(${rooms.join('|')})/`

const floors = ROOMS.slice(0, -1).map((room, floor) => ({
  name: `nothing-above-${room}`,
  severity: 'error',
  comment: `lib/${room} stands below ${ROOMS.slice(floor + 1).join(', ')}: it must not require them.`,
  from: { path: filesIn([room]) },
  to: { path: filesIn(ROOMS.slice(floor + 1)) },
}))

module.exports = {
  forbidden: [
    ...floors,
    {
      name: 'lib-stands-alone',
      severity: 'error',
      comment: 'lib/ must not require what stands above it: index.js, bin/ or anything else of the repository.',
      from: { path: '^lib/' },
      to: { pathNot: ['^lib/', '^node_modules/'], dependencyTypes: ['local'] },
    },
    {
      name: 'lib-is-private',
      severity: 'error',
      comment: 'Users see index.js. Only what is listed here may reach past it.',
      from: {
        pathNot:
          '^(lib|bin|__test__|chaos|bench|scripts/codec)/|^(index|browser|codec|remote|biguint-format|metrics)[.]js$',
      },
      to: { path: '^lib/' },
    },
    {
      name: 'stores-keep-records',
      severity: 'error',
      comment: 'A store reads and swaps records. It knows neither IDs nor who holds a slot.',
      from: { path: '^lib/lease/stores/' },
      to: { path: '^lib/(layout|generator|lease/(?!stores/))' },
    },
    {
      name: 'one-database-each',
      severity: 'error',
      comment: 'What two databases need stands beside their folders, in lib/lease/stores.',
      from: { path: '^lib/lease/stores/([^/]+)/' },
      to: { path: '^lib/lease/stores/[^/]+/', pathNot: '^lib/lease/stores/$1/' },
    },
    {
      name: 'browsers-load-it',
      severity: 'error',
      comment: 'What browsers load must not need a module of Node, not even inside a function: bundlers look for it.',
      from: { path: '^(lib/(codec|remote)/|(browser|codec|remote)[.]js$)' },
      to: { path: `^(node:)?(${builtinModules.join('|')})$`, reachable: true },
    },
    {
      name: 'what-is-there',
      severity: 'error',
      comment:
        'There is no such file. A require inside a function would fail only when it runs, and no rule above sees it.',
      from: { pathNot: '^consumers/' }, // these write some files themselves
      to: { couldNotResolve: true, path: '^[.#]' },
    },
    {
      name: 'no-circle',
      severity: 'error',
      comment: 'Two files that need each other are one file, or need a third one below them.',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    exclude: { path: '(^|/)(target|node_modules)/' },
  },
}
