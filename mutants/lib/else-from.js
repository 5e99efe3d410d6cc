'use strict'

// Small changes to join() with `elseFrom`, each of which a test must notice. See mutants/lib.js.

const sameGroup = 'lib/lease/else-from/same-group.js'
const elsewhere = 'lib/lease/else-from/elsewhere.js'
const leaseOrServers = 'lib/lease/else-from/lease-or-servers.js'

module.exports = [
  {
    name: 'elseFrom takes IDs of another layout',
    file: sameGroup,
    from: 'if (theirs !== this.#fingerprint) throw',
    to: 'if (theirs === null) throw',
    tests: ['lease/else-from'],
  },
  {
    name: 'elseFrom takes IDs of a segment',
    file: sameGroup,
    from: 'if (theirs !== this.#fingerprint) throw',
    to: 'if (theirs !== null && theirs !== this.#fingerprint) throw',
    tests: ['lease/else-from'],
  },
  {
    name: 'elseFrom takes IDs of another store',
    file: sameGroup,
    from: 'isSame === false ? otherStoreError(server, this.#name, this.#group) : undefined',
    to: 'undefined',
    tests: ['lease/else-from'],
  },
  {
    name: 'a server is of another store because ours does not answer',
    file: sameGroup,
    from: 'if (ours === undefined) return undefined',
    to: 'if (ours === undefined) return false',
    tests: ['lease/else-from'],
  },
  {
    name: 'IDs that were fetched before a slot made some are given after them',
    file: elsewhere,
    from: 'if (windows !== this.#windows) this.#supply.clear() // a slot has made IDs since',
    to: '',
    tests: ['lease/else-from-changes'],
  },
  {
    name: 'numbers from servers keep their byte order',
    file: elsewhere,
    from: 'if (fill === hot.fillNumbers && IS_LITTLE_ENDIAN) rest.swap64()',
    to: '',
    tests: ['lease/else-from'],
  },
  {
    name: 'servers hide that the group has other options',
    file: leaseOrServers,
    from: 'if (!PASSING.includes(String(error.code))) throw error',
    to: '',
    tests: ['lease/else-from'],
  },
  {
    name: 'servers are used after detach()',
    file: 'lib/lease/lease.js',
    from: 'return status === STATUS.NO_GENERATOR && this.#machine.isRecovering',
    to: 'return status === STATUS.NO_GENERATOR',
    tests: ['lease/else-from'],
  },
  {
    name: 'close() leaves a comparison behind',
    file: leaseOrServers,
    from: '    this.#onClose()\n',
    to: '',
    tests: ['lease/else-from'],
  },
]
