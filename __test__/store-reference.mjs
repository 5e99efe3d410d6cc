// A store beside the reference of its rules, core/src/grants.rs: the same random steps to both, and the answers compared.
// It must know nothing of any one store: what can happen to a server comes in as `faults`.
//
// A step's time is the store's and is known from most answers. Where an answer has none, the step came between two looks
// at the store's clock: so there are two references, one for the earlier time and one for the later.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const COMMAND = ['cargo', 'run', '--quiet', '--example', 'grants', '-p', 'flakeforge-core']

/** An owner token as the lease makes them: new for each acquisition. */
export const newOwner = () => randomBytes(16).toString('hex')

/** The reference as a process: one request, one answer, in turn. */
class Reference {
  #child
  #waiting = []

  async start() {
    const [program, ...args] = COMMAND
    this.#child = spawn(program, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.once('error', (error) => this.#fail(error))
    this.#child.once('exit', (code) => this.#fail(new Error(`the reference ended with ${code}`)))
    createInterface(this.#child.stdout).on('line', (line) => this.#waiting.shift().resolve(JSON.parse(line)))
    await this.ask({ step: 'flush' })
    return this
  }

  ask(request) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#child.stdin.write(`${JSON.stringify(request)}\n`)
    })
  }

  stop() {
    this.#child.stdin.end()
  }

  #fail(error) {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}

/** Random numbers that a seed repeats (mulberry32). */
function randomFrom(seed) {
  let state = seed
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n) => Math.floor(unit() * n)
  const pick = (choices) => choices[below(choices.length)]
  /** A key of `weights`, each as often as its weight says. */
  const weighted = (weights) => {
    let rest = unit() * Object.values(weights).reduce((sum, weight) => sum + weight, 0)
    for (const [name, weight] of Object.entries(weights)) {
      rest -= weight
      if (rest < 0) return name
    }
    return Object.keys(weights).at(-1)
  }
  return { below, pick, weighted, chance: (share) => unit() < share }
}

const COUNTER_REFUSALS = { gone: /was removed/, lost: /may have lost/, full: /2\^64/ }

/** What a call to the store gave, in the words of the reference. */
async function observe(call, { clientNow }) {
  try {
    const value = await call
    return { ok: typeof value === 'bigint' ? String(value) : (value ?? null) }
  } catch (error) {
    const { code, skewMs, storeNow, message } = error
    if (code === 'ERR_FLAKE_CLOCK_SKEW') return { error: code, skewMs, storeNow: clientNow - skewMs }
    if (code === 'ERR_FLAKE_QUIET' || code === 'ERR_FLAKE_EXHAUSTED') {
      return { error: code, retryAt: error.retryAt.getTime(), storeNow }
    }
    if (code === 'ERR_FLAKE_STORE') {
      return { error: code, why: Object.keys(COUNTER_REFUSALS).find((why) => COUNTER_REFUSALS[why].test(message)) }
    }
    if (code === undefined) throw error
    return { error: code }
  }
}

/** The reference's answer without what the store's is not compared in. */
function expected({ theirs, ours, ...answer }, request) {
  if (answer.error !== 'ERR_FLAKE_CLOCK_SKEW') return answer
  return { ...answer, storeNow: request.clientNow - answer.skewMs }
}

const withoutTime = ({ retryAt, ...answer }) => answer

/** How two sides stand after a step, which came at `now` at the latest: do they agree, can the next one be compared? */
function judge(real, early, late, now) {
  // The quiet period began between the two references' times. Where the earlier of its ends has come, it may be over.
  const isQuiet = [early, late].every(({ error }) => error === 'ERR_FLAKE_QUIET')
  if (isQuiet && early.retryAt <= now && early.retryAt < late.retryAt) return { agree: true, decided: false }
  if (isDeepStrictEqual(early, late)) return { agree: isDeepStrictEqual(real, early), decided: true }
  if (isDeepStrictEqual(withoutTime(early), withoutTime(late))) {
    const inside = early.retryAt <= real.retryAt && real.retryAt <= late.retryAt
    return { agree: inside && isDeepStrictEqual(withoutTime(real), withoutTime(early)), decided: true }
  }
  // The very ms in which a wait ended: either is right, as is a wait that ends between the two, and from here on the two
  // references differ.
  const isLike = (side, isBetween) =>
    isDeepStrictEqual(withoutTime(real), withoutTime(side)) && (real.retryAt === side.retryAt || isBetween)
  const agree = isLike(early, real.retryAt > early.retryAt) || isLike(late, real.retryAt < late.retryAt)
  return { agree, decided: false }
}

const CONFIG = { fingerprint: 'layout one', slots: 3, ttlMs: 60, skewMs: 40 }
const HOSTS = ['a', 'b', 'ab']
const MAX = 2n ** 64n - 1n
const WEIGHTS = { open: 2, acquire: 9, renew: 7, release: 5, destroy: 1, list: 4, advance: 3, pause: 4 }

/** One run of random steps on groups and counters that no other run has. */
class Run {
  #history = []

  constructor({ store, clock, faults, references, seed }, number) {
    Object.assign(this, { store, clock, faults, references, seed, prefix: `${seed} ${number}` })
    this.random = randomFrom(seed * 1000 + number)
    this.owners = Array.from({ length: 5 }, newOwner)
    this.grants = new Map() // the last grant of each owner
    this.ends = [] // when the last grants and waits that were answered are over
    this.incarnation = 1
    this.groups = 0
  }

  /** Takes `count` steps or fewer; gives how many were compared. */
  async take(t, count) {
    await this.#newGroup(t)
    for (let done = 1; done < count; done++) if (!(await this.#next(t))) return done
    return count
  }

  #next(t) {
    const faults = Object.fromEntries(Object.keys(this.faults).map((name) => [name, 0.3]))
    const kind = this.random.weighted({ ...WEIGHTS, newGroup: 0.4, ...faults })
    if (kind === 'newGroup') return this.#newGroup(t)
    if (kind === 'pause') return this.#pause()
    if (kind in faults) return this.#fault(t, kind)
    return this.#compare(t, kind)
  }

  async #newGroup(t) {
    this.groups += 1
    this.group = `${this.prefix} group ${this.groups}`
    this.grants.clear()
    return this.#compare(t, 'open', { create: this.random.chance(0.9) })
  }

  /** Waits for a while, or for about the ms in which something ends: that is where rules differ by one. */
  async #pause() {
    const { random } = this
    const until = random.pick([...this.ends, 0]) - (await this.clock()) - random.below(3)
    const ms = until > 0 && until < 2 * CONFIG.ttlMs ? until : random.below(CONFIG.ttlMs * 1.5)
    this.#history.push(`pause ${ms}`)
    await sleep(ms)
    return true
  }

  async #fault(t, kind) {
    this.#history.push(kind)
    await this.faults[kind]()
    const said = { flush: 'flush', save: 'save', rollBack: 'restore' }[kind]
    if (said !== undefined) for (const reference of this.references) await reference.ask({ step: said })
    if (kind === 'save') return true
    this.incarnation += 1
    if (this.random.chance(0.2)) return this.#compare(t, 'destroy') // the first to see the loss
    // Nothing is granted for a minute in a group that was lost with all others.
    if (kind === 'flush' && this.random.chance(0.7)) return this.#newGroup(t)
    return true
  }

  /** The arguments of a random step. */
  async #draw(kind) {
    const { random } = this
    const [owner, before] = [random.pick(this.owners), await this.clock()]
    const grant = this.grants.get(owner) ?? { slot: random.below(4), lo: before, hi: before }
    const offset = random.chance(0.85)
      ? random.below(10) - 5
      : random.pick([-1, 1]) * (CONFIG.skewMs + random.below(6) - 3)
    const clientNow = before + offset
    if (kind === 'acquire') return { owner, host: random.pick(HOSTS), clientNow }
    if (kind === 'renew') return { slot: random.chance(0.9) ? grant.slot : random.below(4), owner, clientNow }
    if (kind === 'release') {
      const last = random.pick([before, before, grant.lo, grant.hi]) + random.below(7) - 3
      return { slot: grant.slot, owner, last }
    }
    return {}
  }

  /** Takes one step on both sides; whether the next one can be compared. */
  async #compare(t, kind, given) {
    if (kind === 'advance') return this.#advance(t)
    if (kind === 'open' && given === undefined) return this.#reopen(t)
    const args = given ?? (await this.#draw(kind))
    const { store, group } = this
    const call = {
      open: () => store.open(group, { ...CONFIG, ...args }),
      destroy: () => store.destroy(group),
      list: () => store.list(group),
    }[kind]
    const real = await this.#both(t, { step: kind, group, config: { ...CONFIG, ...args.config }, ...args }, () =>
      call === undefined ? store[kind](group, args) : call(),
    )
    if (real.answer.ok?.hi !== undefined) this.grants.set(args.owner, real.answer.ok)
    const end = real.answer.ok?.hi ?? real.answer.retryAt
    if (end !== undefined) this.ends = [end, ...this.ends].slice(0, 3)
    if (kind === 'destroy' && real.decided && this.random.chance(0.7)) return this.#reopen(t)
    return real.decided
  }

  /** Opens the group again, now and then with options that do not fit. */
  async #reopen(t) {
    const { random, store, group } = this
    const create = random.chance(0.5)
    if (random.chance(0.3)) {
      const [name, value] = random.pick([
        ['fingerprint', 'layout two'],
        ['slots', 4],
        ['ttlMs', 61],
        ['skewMs', 41],
      ])
      const exists = (await this.references[0].ask({ step: 'list', group })).ok.length > 0
      const config = { ...CONFIG, [name]: value }
      // Only of a group that is there: else these options would become the group's.
      if (exists) {
        await this.#both(t, { step: 'open', group, config, create }, () => store.open(group, { ...config, create }))
      }
    }
    return this.#compare(t, 'open', { create })
  }

  async #advance(t) {
    const { random, store } = this
    const name = `${this.prefix} counter ${random.below(2)}`
    const by = random.pick([0n, 0n, 1n, 10_000n, 2n ** 53n + 1n, 2n ** 63n + 12345n])
    const init = random.pick([undefined, undefined, 0n, 10n ** 10n - 1n, 2n ** 60n + 1n, MAX - 5n])
    const request = { step: 'advance', name, by: String(by), ...(init === undefined ? {} : { init: String(init) }) }
    const { decided } = await this.#both(t, request, () => store.advance(name, by, init))
    return decided
  }

  async #both(t, request, call) {
    const before = await this.clock()
    const answer = await observe(call(), request)
    const storeNow = answer.ok?.storeNow ?? answer.storeNow
    const times = storeNow === undefined ? [before, await this.clock()] : [storeNow, storeNow]
    const answers = await Promise.all(
      this.references.map(async (reference, i) => {
        const asked = { ...request, now: times[i], incarnation: this.incarnation }
        return expected(await reference.ask(asked), request)
      }),
    )
    this.#history.push({ ...request, config: undefined, times, answer })
    const { agree, decided } = judge(answer, ...answers, times[1])
    if (!agree) {
      t.log(
        this.#history
          .slice(-25)
          .map((step) => JSON.stringify(step))
          .join('\n'),
      )
      t.deepEqual(
        answer,
        answers[0],
        `seed ${this.seed}: not what the reference gives (late: ${JSON.stringify(answers[1])})`,
      )
    }
    t.true(agree)
    return { answer, decided }
  }
}

/**
 * Takes random steps on a store and on the reference, and asserts that both give the same.
 *
 * @param {object} t ava's
 * @param {{ store: object, clock: () => Promise<number>, faults: Record<string, () => Promise<void>>, runs?: number,
 * steps?: number, seed?: number }} options `clock` is the store's, in Unix ms. `faults` are any of: `flush`, everything is
 * gone; `save`, remember everything; `rollBack`, what was saved last is back (nothing, if nothing was), in another
 * incarnation; `restart`, another incarnation and nothing lost.
 */
export async function followsReference(t, { store, clock, faults, runs = 12, steps = 80, seed = Date.now() % 1e6 }) {
  const references = [await new Reference().start(), await new Reference().start()]
  t.teardown(() => references.forEach((reference) => void reference.stop()))
  let compared = 0
  for (let number = 0; number < runs; number++) {
    compared += await new Run({ store, clock, faults, references, seed }, number).take(t, steps)
  }
  t.log(`seed ${seed}: ${compared} of ${runs * steps} steps compared`)
  t.true(compared > (runs * steps) / 2, `${compared} steps are too few: the store's clock is too coarse for this`)
}
