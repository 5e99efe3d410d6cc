// The types declare exactly what exists at run time. The exports at run time are listed here as TypeScript, and
// compiled: a name that the types lack is an error in it, and so is one that only the types have.

import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'
import { compile, makeProject, removeProject } from '../support/types.mjs'

const require = createRequire(import.meta.url)
const FlakeId = require('flakeforge')
const { GENERAL, OF_NODE } = require('../../target/rooms/lib/generator/options.js')
const { readJoinOptions } = require('../../target/rooms/lib/lease/join-options.js')
const { KINDS, writeProject } = require('../types/kinds.cjs')

let temp

test.before(async () => {
  temp = await makeProject()
})

test.after.always(() => removeProject(temp))

const INSPECT = Symbol.for('nodejs.util.inspect.custom') // the way of printing is not part of the types

/** A name as a key in TypeScript's text. */
function asKey(name) {
  if (typeof name === 'string') return JSON.stringify(name)
  return `[Symbol.${Object.getOwnPropertyNames(Symbol).find((known) => Symbol[known] === name)}]`
}

/** A statement that compiles if a type has exactly these keys. */
function exactly(type, names) {
  const keys = [...new Set(names)].map((name) => `${asKey(name)}: true`)
  return `({ ${keys.join(', ')} }) satisfies Record<${type}, true>`
}

/** The members of an instance: its own, those of its class, and those of the classes above. */
function membersOf({ prototype }, own = []) {
  const names = [...own]
  for (let each = prototype; each !== Object.prototype; each = Object.getPrototypeOf(each))
    names.push(...Reflect.ownKeys(each))
  return names.filter((name) => name !== 'constructor' && name !== INSPECT && name.description !== 'tell')
}

/** The members of a class itself. All of them are for users: users must not reach what only lib/ calls. */
function staticsOf(theClass) {
  const ofEveryClass = ['length', 'name', 'prototype']
  return Object.getOwnPropertyNames(theClass).filter((name) => !ofEveryClass.includes(name))
}

const HEAD = [
  "import * as all from 'flakeforge'",
  "import * as leases from 'flakeforge/lease'",
  "import FlakeId, { Layout } from 'flakeforge'",
  "import { LeasedFlakeId, SegmentId } from 'flakeforge/lease'",
  "import type { Base, FlakeIdOptions, JoinOptions, LayoutName, LayoutOptions } from 'flakeforge'",
  "import type { Parts, PartsToEncode, Stats } from 'flakeforge'",
]

/** Compiles statements as an ES module, or in the format of `file`. */
async function check(t, name, statements, file = 'list.mts', head = HEAD) {
  const lines = [...head, ...statements]
  const folder = path.join(temp, name)
  writeProject(folder, { [file]: lines.join('\n') }, { ...KINDS.nodenext.options, noEmit: true })
  const { output } = await compile(folder)
  const wrong = [...output.matchAll(/^list\.[cm]ts\((\d+),/gm)].map(([, line]) => lines[line - 1])
  t.is(output, '', wrong.join('\n'))
}

test('every export is declared', async (t) => {
  await check(t, 'exports', [
    exactly('keyof typeof all', Object.keys(await import('flakeforge'))),
    exactly('keyof typeof leases', Object.keys(await import('flakeforge/lease'))),
    exactly("Exclude<keyof typeof FlakeId, 'prototype'>", staticsOf(FlakeId)),
  ])
})

test('every export is declared as a property of the result of require()', async (t) => {
  const statements = [exactly("Exclude<keyof typeof FlakeId, 'prototype'>", staticsOf(FlakeId))]
  await check(t, 'required', statements, 'list.cts', ["import FlakeId = require('flakeforge')"])
})

test('every member of each class is declared', async (t) => {
  const { Layout } = FlakeId
  const { LeasedFlakeId, SegmentId } = require('flakeforge/lease')
  const chosen = [
    new Layout('hazelcast', { idOffset: 5n }),
    new Layout('snowcast', { nodes: 256 }),
    new Layout('uniqueid', { mode: 'sequential' }),
  ]
  await check(t, 'members', [
    exactly('keyof FlakeId', [...membersOf(FlakeId)]),
    exactly('keyof LeasedFlakeId', [...membersOf(LeasedFlakeId)]),
    exactly('keyof Layout', membersOf(Layout, chosen.flatMap(Object.keys))),
    exactly('keyof SegmentId', [...membersOf(SegmentId)]),
    exactly("Exclude<keyof typeof Layout, 'prototype'>", staticsOf(Layout)),
    exactly("Exclude<keyof typeof SegmentId, 'prototype'>", staticsOf(SegmentId)),
    exactly("Exclude<keyof typeof LeasedFlakeId, keyof typeof FlakeId | 'prototype'>", staticsOf(LeasedFlakeId)),
    exactly('keyof Stats', Object.keys(new FlakeId().stats)),
  ])
})

/** Names as a union of types. */
const union = (names) => `'${names.join("' | '")}'`

const COMMON = ['timestamp', 'date', 'tick', 'counter', 'id', 'mode']

function fieldsOf(layout) {
  const parts = layout.decode(layout.encode({ timestamp: layout.epoch }))
  return Object.keys(parts).filter((name) => !COMMON.includes(name))
}

test('every dialect, and its fields, are declared', async (t) => {
  const dialects = Object.entries(FlakeId.layouts)
  const ofEach = dialects.flatMap(([name, layout]) => {
    const asParts = `Exclude<keyof Parts<'${name}'>, ${union(COMMON)}>`
    const toEncode = `Exclude<keyof PartsToEncode<'${name}'>, ${union(COMMON)}>`
    const asOptions = `Exclude<keyof FlakeIdOptions<'${name}'>, ${union([...GENERAL, ...OF_NODE])}>`
    return [asParts, toEncode, asOptions].map((type) => exactly(type, fieldsOf(layout)))
  })
  t.true(ofEach.length >= 30)
  await check(t, 'dialects', [exactly('LayoutName', Object.keys(FlakeId.layouts)), ...ofEach])
})

/** Which options a layout accepts. */
function choicesOf(layout) {
  const values = { epoch: 0, idOffset: undefined, nodes: 128, mode: 'spread' }
  return Object.keys(values).filter((name) => {
    try {
      return new FlakeId.Layout(layout, { [name]: values[name] })
    } catch {
      return false
    }
  })
}

test('every option is declared', async (t) => {
  const ofLease = [
    'group',
    'slots',
    'backfill',
    'ttlMs',
    'skewMs',
    'durable',
    'waitMs',
    'host',
    'share',
    'signal',
    'elseFrom',
  ]
  const ofJoin = [...GENERAL, ...ofLease].filter((name) => {
    try {
      return readJoinOptions({ [name]: undefined })
    } catch {
      return false
    }
  })
  const dialects = Object.entries(FlakeId.layouts)
  await check(t, 'options', [
    exactly("Exclude<keyof FlakeIdOptions<'flake'>, 'datacenter' | 'worker'> | 'nodes' | 'mode'", [
      ...GENERAL,
      ...OF_NODE,
    ]),
    exactly("Exclude<keyof JoinOptions<'flake'>, 'datacenter' | 'worker'> | 'nodes' | 'mode'", [...ofJoin]),
    ...dialects.map(([name, layout]) => exactly(`keyof LayoutOptions<'${name}'>`, choicesOf(layout))),
  ])
})

test('flakeforge/remote: its exports, members, options and counts are declared', async (t) => {
  const remote = require('flakeforge/remote')
  const { KEYS } = require('../../target/rooms/lib/remote/options.js')
  await check(t, 'remote', [
    "import * as remote from 'flakeforge/remote'",
    exactly('keyof typeof remote', Object.keys(remote)),
    exactly('keyof remote.RemoteFlakeId', membersOf(remote.RemoteFlakeId)),
    exactly("Exclude<keyof typeof remote.RemoteFlakeId, 'prototype'>", staticsOf(remote.RemoteFlakeId)),
    exactly('keyof remote.RemoteOptions', [...KEYS, 'signal']),
    exactly('keyof remote.RemoteStats', ['ids', 'requests', 'retries', 'dropped', 'buffered', 'server']),
    exactly('keyof remote.RemoteFailure', ['server', 'reason', 'status', 'code', 'retryAfterMs']),
  ])
})

test('every base is declared', async (t) => {
  const bases = require('../../target/rooms/lib/native/index.js').bases()
  await check(t, 'bases', [exactly('Base', [...bases])])
})
