// What docs/data/public-ids.md says besides its JavaScript: the Java code is what generated the vectors, their number
// is right, and Sqids behaves as described.

import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import Sqids from 'sqids'
import { blocksOf, root } from '../support/guides.mjs'
import { FlakeId, vectors } from '../support/index.mjs'

const GUIDE = 'data/public-ids.md'
const guide = readFileSync(path.join(root, 'docs', GUIDE), 'utf8')
const types = readFileSync(path.join(root, 'lib', 'layout', 'seal.ts'), 'utf8')

test('the Java code is what generated the vectors', (t) => {
  const program = readFileSync(path.join(root, '__test__', 'vectors', 'seal', 'SealVectors.java'), 'utf8')
  const [, shown] = /^ *\/\/ <guide>\n(.*?)^ *\/\/ <\/guide>\n/ms.exec(program)
  t.deepEqual(blocksOf(GUIDE, 'java'), [shown])
})

test('the number of vectors is right', (t) => {
  const [, said] = /has (\d+) sealed IDs/.exec(guide)
  t.is(
    vectors('seal').seals.reduce((sum, { ids }) => sum + ids.length, 0),
    Number(said),
  )
})

test('Sqids: several texts decode to the same numbers', (t) => {
  const sqids = new Sqids()
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const same = letters.flatMap((a) => letters.map((b) => a + b)).filter((text) => sqids.decode(text).join() === '1')
  t.true(same.length > 1, same.join())
})

test('the example of the types is true', (t) => {
  const [, hex] = /ID_KEY=(\w+)/.exec(types)
  const [, id, text] = /sealString\((\d+)n\) \/\/ '(\w+)'/.exec(types)
  const [, opened, bytes] = /openString\('(\w+)'\) +\/\/ <Buffer ([\da-f ]+)>/.exec(types)
  const orders = new FlakeId.Seal(Buffer.from(hex, 'hex'), { tweak: 'orders' })
  t.is(orders.sealString(BigInt(id)), text)
  t.is(orders.openString(opened).toString('hex'), bytes.replaceAll(' ', ''))
})
