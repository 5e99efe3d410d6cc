'use strict'

// Small changes to which IDs RemoteFlakeId keeps at hand, and to the calls that wait for them. A test must notice each. See
// mutants/lib.js.

const buffer = 'lib/remote/buffer.js'
const calls = 'lib/remote/calls.js'
const supply = 'lib/remote/supply.js'
const demand = 'lib/remote/demand.js'

module.exports = [
  {
    name: 'IDs stay however old they get',
    file: buffer,
    from: 'return !(age >= 0 && age <= this.#validityMs)',
    to: 'return !(age >= 0)',
    tests: ['remote/validity'],
  },
  {
    name: 'a clock that was set back makes IDs young again',
    file: buffer,
    from: 'return !(age >= 0 && age <= this.#validityMs)',
    to: 'return !(age <= this.#validityMs)',
    tests: ['remote/validity'],
  },
  {
    name: 'a batch is only looked at when its turn comes',
    file: buffer,
    from: 'if (this.#ahead.some(({ since }) => this.#isTooOld(since, now))) this.#dropAhead(now)',
    to: '',
    tests: ['remote/validity'],
  },
  {
    name: 'take() looks at the clock twice',
    file: buffer,
    from: '    this.#copy(into, 0)\n    return true',
    to: '    this.fill(into, 0)\n    return true',
    tests: ['remote/validity'],
  },
  {
    name: 'the clock is trusted beyond the turn',
    file: buffer,
    from: '    queueMicrotask(this.#distrust)',
    to: '',
    tests: ['remote/validity'],
  },
  {
    name: 'the clock is trusted for a whole batch',
    file: buffer,
    from: 'const TRUSTED = 16',
    to: 'const TRUSTED = 10_000',
    tests: ['remote/validity'],
  },
  {
    name: 'clear() leaves what was trusted',
    file: buffer,
    from: '    this.ready = 0\n    this.#bytes = bytes',
    to: '    this.#bytes = bytes',
    tests: ['remote/calls'],
  },
  {
    name: 'calls that are late to a round fail with it',
    file: calls,
    from: 'call !== undefined && call.since <= since',
    to: 'call !== undefined && since !== 0',
    tests: ['remote/waiting'],
  },
  {
    name: 'IDs of a call that was given up are not counted',
    file: calls,
    from: 'this.lost += call.filled / 8',
    to: '',
    tests: ['remote/calls'],
  },
  {
    name: 'what calls that were given up missed is fetched all the same',
    file: calls,
    from: '    this.missing -= (call.into.length - call.filled) / 8\n',
    to: '',
    tests: ['remote/waiting'],
  },
  {
    name: 'the answer of a request that was given up is used',
    file: supply,
    from: '    if (attempt !== this.#attempt) return\n    if (!(answer',
    to: '    if (!(answer',
    tests: ['remote/calls'],
  },
  {
    name: 'a refill starts below half',
    file: supply,
    from: 'if (above <= 0) this.#refill()',
    to: 'if (above < 0) this.#refill()',
    tests: ['remote/requests'],
  },
  {
    name: 'the last of the first half goes without a look',
    file: supply,
    from: 'this.buffer.trust(above > 0 ? above - 1 : MOST)',
    to: 'this.buffer.trust(MOST)',
    tests: ['remote/requests'],
  },
  {
    name: 'what take() missed is not fetched',
    file: supply,
    from: '    this.#goal = Math.max(this.#goal, n)\n',
    to: '',
    tests: ['remote/calls'],
  },
  {
    name: 'no wait for the other calls of the turn',
    file: supply,
    from: 'queueMicrotask(() => this.#run(attempt))',
    to: 'this.#run(attempt)',
    tests: ['remote/requests', 'remote/refusals'],
  },
  {
    name: 'two requests are under way',
    file: supply,
    from: 'if (this.#attempt !== undefined) {',
    to: 'if (this.#attempt === null) {',
    tests: ['remote/requests'],
  },
  {
    name: 'a request that is under way is given up for another one',
    file: supply,
    from: 'if (now < this.#attempt.until) return',
    to: '',
    tests: ['remote/requests'],
  },
  {
    name: 'no rest between requests in advance',
    file: supply,
    from: 'if (this.#isClosed || (this.#calls.size === 0 && now < this.#restUntil)) return',
    to: 'if (this.#isClosed) return',
    tests: ['remote/waiting'],
  },
  {
    name: 'the rest goes on when nobody waits',
    file: supply,
    from: 'if (this.#calls.size === 0 && this.#attempt?.isResting) this.#giveUp()',
    to: '',
    tests: ['remote/waiting'],
  },
  {
    name: 'calls wait for ever',
    file: supply,
    from: 'if (this.#cameAt < tooLate) this.#calls.fail(error, Math.min(start, tooLate))',
    to: '',
    tests: ['remote/answers'],
  },
  {
    name: 'a refusal is forgotten at once',
    file: supply,
    from: 'if (failure?.isFinal) return failure.error',
    to: '',
    tests: ['remote/refusals'],
  },
  {
    name: 'close() leaves calls waiting',
    file: supply,
    from: '    this.#forget()\n    this.#calls.fail(closedRemoteError(this.#settings.name))',
    to: '    this.#forget()',
    tests: ['remote/calls'],
  },
  {
    name: 'a snapshot keeps its IDs',
    file: supply,
    from: '    whenCopied(() => this.#forget())\n',
    to: '',
    tests: ['remote/copies'],
  },
  {
    name: 'demand never grows',
    file: demand,
    from: 'Math.min(this.#count * 2, MOST)',
    to: 'this.#count',
    tests: ['remote/requests'],
  },
  {
    name: 'demand never shrinks',
    file: demand,
    from: 'else if (lasted > enough * AMPLE)',
    to: 'else if (lasted < 0)',
    tests: ['remote/requests'],
  },
  {
    name: 'a refill starts with the first ID',
    file: demand,
    from: 'return Math.floor(this.#count / 2)',
    to: 'return this.#count',
    tests: ['remote/requests'],
  },
]
