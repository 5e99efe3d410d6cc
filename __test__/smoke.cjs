'use strict'

// Everything the package does, once, without a test runner or a dependency: it runs the same on every runtime that
// loads the addon (`node scripts/runtimes.js __test__/smoke.cjs`). It throws at the first error.

const { AsyncLocalStorage } = require('node:async_hooks')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const util = require('node:util')
const { Worker } = require('node:worker_threads')
const FlakeId = require('..')
const lease = require('../dist/lease.cjs')
const { make } = require('./workers/make.cjs')

const { Seal, compare, format, fromSigned, parse, toBigInt, toSigned } = FlakeId
const BASES = ['dec', 'hex', 'bin', 'oct', 'base32', 'base36', 'base58', 'base62', 'tid']
/** An ID, sealed with keys of this many bytes. */
const SEALED = { 16: 'b15750d745b473ef', 24: '76c845a83d60df26', 32: '09cdd6cbac5bee36' }
let checks = 0

function is(actual, expected, what) {
  checks++
  if (!Object.is(actual, expected)) throw new Error(`${what}: ${String(actual)} instead of ${String(expected)}`)
}

/** A call that must throw: its error must be of this class, with this code, and have a message. */
function fails(call, Type, code, what) {
  let error
  try {
    call()
  } catch (thrown) {
    error = thrown
  }
  is(error instanceof Type, true, `${what} throws a ${Type.name}, not ${error}`)
  is(error.code, code, what)
  is(error.message.length > 20, true, `${what}: the message '${error.message}' says something`)
}

/** Each an 8-byte Buffer with its own memory. */
function areOwnBuffers(buffers, what) {
  for (const buffer of buffers) {
    is(Buffer.isBuffer(buffer), true, `${what} is a Buffer`)
    is(buffer.length, 8, `length of ${what}`)
    is(buffer.buffer.byteLength, 8, `memory behind ${what}`)
    is(buffer.byteOffset, 0, `offset of ${what}`)
  }
  is(new Set(buffers.map(({ buffer }) => buffer)).size, buffers.length, `separate memory for each ${what}`)
}

/** Ascending implies unique. */
function areAscending(ids, what) {
  for (let i = 1; i < ids.length; i++)
    if (ids[i] <= ids[i - 1]) throw new Error(`${what}: ${ids[i]} after ${ids[i - 1]}`)
  checks++
}

const toNumbers = (bytes) => Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readBigUInt64BE(i * 8))
const patient = (options) => new FlakeId({ maxWaitMs: 60_000, ...options })

function checkClass() {
  is(FlakeId.default, FlakeId, 'default')
  is(FlakeId.FlakeId, FlakeId, 'FlakeId')
  const flake = new FlakeId({ datacenter: '9', worker: 7, epoch: new Date(0) })
  is([flake.datacenter, flake.worker, flake.id, flake.epoch].join(), '9,7,295,0', 'properties')
  is(new FlakeId({ id: 100 }).worker, undefined, 'worker next to id')
  is(util.inspect(flake).includes('datacenter: 9'), true, 'inspect')
  is(flake.layout.end.toISOString(), '2109-05-15T07:35:11.104Z', 'end')
  is(flake.layout.signedEnd.toISOString(), '2039-09-07T15:47:35.552Z', 'signedEnd')
}

async function checkSignal(flake) {
  const controller = new AbortController()
  const { signal } = controller
  is((await flake.nextAsync({ signal })).length, 8, 'an ID with a signal')
  const ahead = flake.takeAsync(5_000_000, { signal }).catch((reason) => reason)
  const loop = (async () => {
    for await (const _ of flake.ids({ signal }));
    return 'the end'
  })()
  setTimeout(() => controller.abort('enough'), 5)
  is(await ahead, 'enough', 'an aborted call')
  is(await loop, 'the end', 'an aborted loop')
}

async function checkStyles() {
  const flake = patient({ worker: 1 })
  const buffers = [flake.next(), flake.next(null), await flake.nextAsync(), await byCallback(flake)]
  areOwnBuffers(buffers, 'an ID')
  const ids = toNumbers(Buffer.concat(buffers))
  ids.push(flake.nextBigInt())
  for (const base of BASES) ids.push(toBigInt(parse(flake.nextString(base), base)))
  for (const base of BASES) ids.push(...flake.takeStrings(40, base).map((text) => toBigInt(parse(text, base))))
  ids.push(BigInt(flake.nextString()), ...toNumbers(flake.take(5000)), ...flake.takeBigInts(5000))
  ids.push(...toNumbers(await flake.takeAsync(5000)), ...(await iterate(flake)))
  areAscending(ids, 'IDs of every style')
  is(flake.takeBigInts(0).length, 0, 'take nothing')
  is(flake.stats.ids, ids.length, 'IDs counted')
  await checkSignal(flake)
}

function byCallback(flake) {
  return new Promise((resolve, reject) => {
    let returned = false
    flake.next((error, id) => (error || !returned ? reject(error ?? new Error('called at once')) : resolve(id)))
    returned = true
  })
}

async function iterate(flake) {
  const ids = []
  for await (const id of flake) if (ids.push(id) === 6) break
  areOwnBuffers(ids, 'an iterated ID')
  return toNumbers(Buffer.concat(ids))
}

/**
 * More callbacks at once than 300 ms have numbers: they wait, in order, each in its own context. Four numbers per
 * millisecond, so that an emulated CPU uses them up too.
 */
async function checkWaiting(n) {
  const flake = new FlakeId({ worker: 2, seqMask: 3 })
  const context = new AsyncLocalStorage()
  const ids = await new Promise((resolve, reject) => {
    const done = []
    const arrived = (error, id) => {
      if (error) return reject(error)
      if (context.getStore() !== done.length) return reject(new Error(`context of call ${done.length} is lost`))
      if (done.push(id.readBigUInt64BE()) === n) resolve(done)
    }
    for (let i = 0; i < n; i++) context.run(i, () => flake.next(arrived))
  })
  is(ids.length, n, 'callbacks called')
  is(flake.stats.waits > 0 && flake.stats.overflows > 0, true, 'they had to wait')
  areAscending(ids, 'IDs of callbacks')
}

function checkMany(n) {
  const flake = patient({ worker: 3 })
  areAscending(
    Array.from({ length: n }, () => flake.next().readBigUInt64BE()),
    `${n} IDs`,
  )
  areAscending(
    Array.from({ length: n / 100 }, () => patient({ worker: 4 }).nextBigInt()),
    'a generator per ID',
  )
}

/**
 * Eight threads of one node generate IDs at the same time, in every way. No ID comes twice, and those of each thread
 * ascend.
 */
async function checkThreads(n, addon) {
  const arrived = new Int32Array(new SharedArrayBuffer(4))
  const meeting = { arrived, threads: 8 }
  const plan = { rounds: 2, n, worker: 6, maxAheadMs: Number.POSITIVE_INFINITY, meeting }
  const workers = Array.from({ length: meeting.threads - 1 }, (_, i) => {
    const workerData = i % 2 === 1 ? { ...plan, addon } : plan
    return new Worker(path.join(__dirname, 'workers', 'make.cjs'), { workerData })
  })
  const said = (worker) =>
    new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  await Promise.all(workers.map(said)) // from here on this thread may block
  const others = workers.map(said)
  const lists = await Promise.all([make(plan), ...others])
  for (const ids of lists) areAscending(ids, 'IDs of a thread')
  areAscending(BigUint64Array.from(lists.flatMap((ids) => [...ids])).sort(), 'IDs of all threads')
}

/** The addon's file; undefined for WebAssembly, of which a process has only one. */
function addonFile() {
  const root = path.join(__dirname, '..')
  const { NAPI_RS_NATIVE_LIBRARY_PATH: chosen = fs.readdirSync(root).find((name) => name.endsWith('.node')) } =
    process.env
  return chosen?.endsWith('.node') ? path.resolve(root, chosen) : undefined
}

/** Copies of the addon in one process share their numbers, whatever a copy is called. */
async function checkCopies(n) {
  const addon = addonFile()
  if (addon === undefined) return
  const copy = path.join(temporaryFolder(), 'copy.node')
  fs.copyFileSync(addon, copy)
  await checkThreads(n, copy)
}

/** Every form of a batch has the same IDs: one that fits the arrays of native code, and larger ones. */
async function checkBatches() {
  const options = { datacenter: 9, worker: 7, clock: () => 1_700_000_000_000 }
  const flake = () => new FlakeId(options)
  for (const n of [3, 40, 3000]) {
    const ids = Array.from({ length: n }, (_, i) => 0x62f3f95a00127000n + BigInt(i))
    is(flake().takeBigInts(n).join(), ids.join(), `${n} as numbers`)
    is(toNumbers(flake().take(n)).join(), ids.join(), `${n} as bytes`)
    is(toNumbers(await flake().takeAsync(n)).join(), ids.join(), `${n} as bytes, later`)
    for (const base of BASES) {
      const texts = ids.map((id) => format(parse(String(id)), base))
      is(flake().takeStrings(n, base).join(), texts.join(), `${n} as ${base}`)
    }
    checkNumbers(n)
  }
}

/** IDs as JavaScript numbers, with arithmetic on such numbers: 4,096 for each ms, of which this node has 64. */
function checkNumbers(n) {
  const time = 1_700_000_000_000
  const safe = () => new FlakeId({ layout: 'safe', node: 7, clock: () => time })
  const idOf = (i) => (time + Math.floor(i / 64) - Date.UTC(2020, 0)) * 4096 + 7 * 64 + (i % 64)
  const ids = Array.from({ length: n }, (_, i) => idOf(i))
  is([...safe().takeNumbers(n)].join(), ids.join(), `${n} as JavaScript numbers`)
  const flake = safe()
  is(ids.map(() => flake.nextNumber()).join(), ids.join(), `${n} JavaScript numbers one by one`)
  is(
    ids.every((id) => toBigInt(id) === BigInt(id) && safe().decode(id).node === 7),
    true,
    'a number is an ID',
  )
}

/** A runtime's own Temporal, where it has one: its instants are times, with their nanoseconds. */
function checkTemporal() {
  if (typeof Temporal === 'undefined') return
  const ns = 1_780_000_000_000_123_400n
  const instant = Temporal.Instant.fromEpochNanoseconds(ns)
  for (const time of [instant, instant.toZonedDateTimeISO('Asia/Tokyo')])
    is(toBigInt(FlakeId.layouts.chronicle.encode({ timestamp: time })), ns, 'a Temporal time')
}

/** The time in an ID is the clock's, repeatedly over many ticks: a CPU's cycle counter must not mislead it. */
function checkTime() {
  const flake = patient({ worker: 5 })
  const end = Date.now() + 300
  for (let before = Date.now(); before < end; before = Date.now()) {
    const { timestamp } = flake.decode(flake.next())
    const after = Date.now()
    if (timestamp < before - 1 || timestamp > after + 1)
      throw new Error(`an ID has the time ${timestamp}, and was made between ${before} and ${after}`)
  }
  checks++
}

const SHARED = { id: 295, epoch: 1_600_000_000_000, maxWaitMs: 60_000 }

/** WebAssembly cannot share files, and has to report that. */
function sharesFiles(shared) {
  try {
    new FlakeId({ ...SHARED, shared })
    return true
  } catch (error) {
    if (!error.message.includes('(wasm32)')) throw error
    is(error.code, 'ERR_FLAKE_FILE', 'files in WebAssembly')
    return false
  }
}

/** A separate folder, removed in the end as far as the system allows: Windows keeps files that are still in use. */
function temporaryFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-smoke-'))
  process.once('exit', () => {
    try {
      fs.rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      if (process.platform !== 'win32') throw error
    }
  })
  return folder
}

async function checkFiles() {
  const folder = temporaryFolder()
  const shared = path.join(folder, 'ids')
  if (!sharesFiles(shared)) return
  checkSharedFile(shared)
  await checkSlots(path.join(folder, 'slots'))
  await checkSegments(path.join(folder, 'counters'))
}

/** Numbers in a file have the byte order of this CPU; a file of the other byte order is rejected. */
function checkSharedFile(shared) {
  const ids = [1, 2, 3].flatMap((n) => [...new FlakeId({ ...SHARED, shared }).takeBigInts(n * 1000)])
  areAscending(ids, 'IDs of a file')
  const page = fs.readFileSync(shared)
  is(page.length, 4096, 'size of a file')
  is(page.toString('latin1', 0, 16), 'flakeforge file\n', 'the first bytes of a file')
  const isBig = os.endianness() === 'BE'
  is(isBig ? page.readUInt32BE(16) : page.readUInt32LE(16), 1, 'version of a file')
  const last = ids.at(-1)
  const next = ((last >> 22n) << 12n) + (last & 0xfffn) + 1n
  is(isBig ? page.readBigUInt64BE(2048) : page.readBigUInt64LE(2048), next, 'the next number in a file')
  page.subarray(16, 20).reverse()
  fs.writeFileSync(`${shared}-other`, page)
  const other = { ...SHARED, shared: `${shared}-other`, id: 296 } // a node number that nothing else here uses
  fails(() => new FlakeId(other), Error, 'ERR_FLAKE_FILE', 'a file of the other byte order')
}

async function checkSlots(folder) {
  const store = lease.fileStore(folder)
  const options = { group: 'smoke', host: 'a host', slots: 4, datacenter: 9 }
  is(await FlakeId.createGroup(store, options), true, 'a new group')
  is(await FlakeId.createGroup(store, options), false, 'an existing group')
  const members = [await FlakeId.join(store, options), await FlakeId.join(store, options)]
  const nodes = members.map((flake) => flake.decode(flake.next()))
  for (const [i, { slot }] of members.entries()) {
    is([nodes[i].datacenter, nodes[i].worker].join(), [9, slot].join(), 'the node number of a slot')
  }
  is(new Set(members.flatMap((flake) => [...flake.takeBigInts(2000)])).size, 4000, 'IDs of two slots')
  const rows = (await store.list('smoke')).filter(({ owner }) => owner !== undefined)
  is(rows.length, 2, 'held slots')
  is(rows.map(({ host, pid }) => [host, pid]).join(), `a host,${process.pid},a host,${process.pid}`, 'their holders')
  const age = Date.now() - rows[0].since
  is(age >= -1000 && age < 60_000, true, `a slot that is ${age} ms old`)
  for (const flake of members) await flake.close()
  is((await store.list('smoke')).filter(({ owner }) => owner !== undefined).length, 0, 'slots held in the end')
}

async function checkSegments(folder) {
  const store = lease.fileStore(folder)
  const options = { name: 'smoke', block: 1000, init: 2 ** 33 }
  const members = [await lease.SegmentId.open(store, options), await lease.SegmentId.open(store, options)]
  for (const [i, segment] of members.entries()) {
    const first = 2n ** 33n + 1n + BigInt(i) * 1000n
    const [one, two] = [segment.next().readBigUInt64BE(), segment.nextBigInt()]
    is([one, two].join(), [first, first + 1n].join(), 'numbers of a block')
    is(toNumbers(segment.take(2)).join(), [first + 2n, first + 3n].join(), 'as bytes')
    is(segment.takeBigInts(2).join(), [first + 4n, first + 5n].join(), 'as numbers')
    is(segment.takeStrings(2).join(), [first + 6n, first + 7n].join(), 'as text')
    is(segment.takeStrings(1, 'hex')[0], (first + 8n).toString(16), 'in hex')
  }
  for (const segment of members) await segment.close()
}

function checkOwnClock() {
  let now = 1_700_000_000_000
  const flake = new FlakeId({ datacenter: 9, worker: 7, seqMask: 1, clock: () => now })
  is(format(flake.next(), 'hex'), '62f3f95a00127000', 'an ID of a known time')
  is(flake.nextBigInt(), 0x62f3f95a00127001n, 'the next one')
  fails(() => flake.next(), Error, 'ERR_FLAKE_OVERFLOW', 'a counter that is used up')
  fails(() => flake.nextString('hex'), Error, 'ERR_FLAKE_OVERFLOW', 'text, too')
  fails(() => flake.take(2), Error, 'ERR_FLAKE_OVERFLOW', 'a batch, too')
  now -= 5
  fails(() => flake.next(), Error, 'ERR_FLAKE_CLOCK_BACKWARDS', 'a clock that went back')
  now = -1
  fails(() => flake.next(), RangeError, 'ERR_FLAKE_TIME_RANGE', 'a time before the epoch')
  now = 1_700_000_000_001n * 1_000_000n
  is(flake.nextString('hex'), '62f3f95a00527000', 'a failed call takes no number, and ns are a time, too')
}

function checkDecode() {
  const flake = new FlakeId({ epoch: 1_300_000_000_000, datacenter: 9, worker: 7 })
  for (let tick = 500_000_000_000n; tick < 500_000_001_000n; tick++) {
    const { timestamp, date, ...parts } = flake.decode((tick << 22n) | (295n << 12n) | 4095n)
    is(timestamp, 1_300_000_000_000 + Number(tick), 'timestamp')
    is(date.getTime(), timestamp, 'date')
    is(parts.tick, tick, 'tick')
    is([parts.counter, parts.id, parts.datacenter, parts.worker].join(), '4095,295,9,7', 'parts')
  }
}

function checkText() {
  const id = parse('7529535382561648640')
  is(id.toString('hex'), '687e488989527000', 'parse')
  const bits = '0110100001111110010010001000100110001001010100100111000000000000'
  const expected = [
    '7529535382561648640',
    '687e488989527000',
    bits,
    '641762210461124470000',
    '6GZJ8H64N4W00',
    '1l7etj6f2oi68',
    'JUiX7f7NqLB',
    '8yDLoptqZ04',
    'akzmcla6p6w22',
  ]
  for (const [i, base] of BASES.entries()) {
    is(format(id, base), expected[i], base)
    is(compare(parse(format(id, base), base), id), 0, `${base} and back`)
  }
  is(format(id, 'hex', { prefix: '0x', groupsize: 4, delimiter: '$&' }), '0x687e$&4889$&8952$&7000', 'groups')
  is(format(new Uint8Array([1, 2, 3]), 'dec'), '66051', 'bytes of any length')
  is(format([1, 2], 'hex', { format: 'LE' }), '201', 'little-endian')
  is(format(5n, 'dec', { prefix: 'ord_' }), 'ord_5', 'a prefix')
  is(format(5n, 'oct', { size: 4, padstr: '0' }), '0005', 'padding')
}

function checkValues() {
  const forms = [new Uint8Array([0, 0, 0, 0, 0, 0, 0, 123]), 123n, '123', '0x7b', '0b1111011']
  for (const form of forms) is(toBigInt(form), 123n, 'toBigInt')
  is(toSigned(2n ** 64n - 1n), -1n, 'toSigned')
  is(fromSigned(-1n).toString('hex'), 'f'.repeat(16), 'fromSigned')
  is(fromSigned('-1').toString('hex'), 'f'.repeat(16), 'fromSigned of text')
  is(FlakeId.layouts.flake.toUuid(2n ** 64n - 1n), 'ffffffff-ffff-8fff-bd8f-670cd8eec840', 'toUuid')
  is(FlakeId.layouts.flake.fromUuid('FFFFFFFF-FFFF-8FFF-BD8F-670CD8EEC840')[7], 255, 'fromUuid')
  const json = JSON.stringify({ id: 2n ** 64n - 1n, n: 5 }, FlakeId.jsonReplacer)
  is(json, '{"id":"18446744073709551615","n":5}', 'jsonReplacer')
  is(JSON.parse(json, FlakeId.jsonReviver(['id'])).id, 2n ** 64n - 1n, 'jsonReviver')
  is(['9', '10', '8'].sort(compare).join(), '8,9,10', 'compare')
}

/** A row of __test__/vectors/seal.json, from another implementation of FF1; and more IDs than pass at once. */
function checkSeals() {
  const key = Buffer.from('2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94', 'hex')
  for (const [size, sealed] of Object.entries(SEALED)) {
    const seal = new Seal(key.subarray(0, Number(size)), { tweak: 'orders' })
    is(seal.seal('0x687e488989127000').toString('hex'), sealed, `a seal of a key of ${size} bytes`)
    is(seal.openBigInt(`0x${sealed}`), 0x687e488989127000n, 'it opens')
    is(format(seal.openString(seal.sealString(5n, 'base62'), 'base62')), '5', 'as text')
  }
  const seal = new Seal(key)
  const numbers = BigUint64Array.from({ length: 2500 }, (_, i) => BigInt(i) << 40n)
  const bytes = Buffer.concat(Array.from(numbers, (id) => parse(String(id))))
  is(String(seal.openAll(seal.sealAll(numbers))), String(numbers), 'many numbers')
  is(seal.openAll(seal.sealAll(bytes)).toString('hex'), bytes.toString('hex'), 'many bytes')
  is(seal.sealAll(numbers)[2499], seal.sealBigInt(numbers[2499]), 'one of many numbers')
  is(seal.sealAll(bytes).subarray(-8).toString('hex'), seal.seal(bytes.subarray(-8)).toString('hex'), 'one of many')
  fails(() => new Seal(key.subarray(1)), RangeError, 'ERR_FLAKE_OPTION', 'a key of 31 bytes')
  fails(() => seal.openString('LygHa16AHYG', 'base62'), TypeError, 'ERR_FLAKE_ID', 'more than 64 bits')
}

function checkErrors() {
  const bad = [{ worker: 32 }, { id: 1024 }, { worker: -1 }, { worker: 1.5 }, { worker: Number.NaN }]
  bad.push({ worker: '7x' }, { worker: '' }, { seqMask: 6 }, { epoch: Date.now() + 1e6 })
  for (const options of bad) {
    fails(() => new FlakeId(options), RangeError, 'ERR_FLAKE_OPTION', util.inspect(options))
  }
  for (const options of [{ wroker: 1 }, { id: 1, worker: 1 }, { worker: true }, { clock: 5 }, 5]) {
    fails(() => new FlakeId(options), TypeError, 'ERR_FLAKE_OPTION', util.inspect(options))
  }
  const flake = new FlakeId()
  fails(() => FlakeId(), TypeError, undefined, 'a class without new')
  fails(() => flake.next('x'), TypeError, 'ERR_FLAKE_OPTION', 'an invalid callback')
  fails(() => flake.nextString('base64'), RangeError, 'ERR_FLAKE_OPTION', 'an invalid base')
  fails(() => flake.take('5'), TypeError, 'ERR_FLAKE_OPTION', 'an invalid count')
  fails(() => flake.take(-1), RangeError, 'ERR_FLAKE_OPTION', 'a negative count')
  fails(() => flake.nextNumber(), RangeError, 'ERR_FLAKE_OPTION', 'an ID of 64 bits as a number')
  for (const noId of [2 ** 53, 0.5, -5, '', 'x', -1n, 2n ** 64n, Buffer.alloc(7), null]) {
    fails(() => toBigInt(noId), TypeError, 'ERR_FLAKE_ID', `toBigInt(${String(noId)})`)
  }
  fails(() => parse('18446744073709551616'), TypeError, 'ERR_FLAKE_ID', 'more than 64 bits')
  fails(() => parse(5), TypeError, 'ERR_FLAKE_ID', 'a number where text belongs')
  fails(() => fromSigned(5), TypeError, 'ERR_FLAKE_ID', 'a number where a bigint belongs')
}

async function main() {
  checkClass()
  await checkStyles()
  await checkWaiting(1200)
  checkMany(100_000)
  await checkThreads(1000)
  await checkCopies(1000)
  await checkBatches()
  checkTime()
  await checkFiles()
  checkOwnClock()
  checkTemporal()
  checkDecode()
  checkText()
  checkValues()
  checkSeals()
  checkErrors()
  console.log(`flakeforge works on ${runtime()}: ${checks} checks`)
}

function runtime() {
  const name = ['bun', 'deno'].find((each) => each in process.versions) ?? 'node'
  return `${name} ${process.versions[name]}`
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
