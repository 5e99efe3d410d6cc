// IDs as text and in other forms, by the calls that do not wait; the same for each class that has them.

import test from 'ava'
import { CLASSES } from '../support/calls.mjs'
import { BASES, FlakeId, numberOf, split, turn } from '../support/index.mjs'

const { format, parse } = FlakeId

/** A generator with available IDs, and its first ID. */
async function ready(t, { stuck }) {
  const { generator, goOn, expected } = await stuck(t)
  const waits = generator.nextAsync()
  goOn()
  await waits
  for (;;) {
    try {
      const ids = generator.take(1)
      return { generator, last: numberOf(ids), expected }
    } catch (error) {
      if (error.code !== 'ERR_FLAKE_OVERFLOW') throw error
      await turn()
    }
  }
}

/** The result of a call, once enough IDs are available. */
async function patiently(call) {
  for (;;) {
    try {
      return call()
    } catch (error) {
      if (error.code !== 'ERR_FLAKE_OVERFLOW') throw error
      await turn()
    }
  }
}

const FORMS = {
  'prefix left out': [undefined, ''],
  'no options': [null, ''],
  'empty options': [{}, ''],
  'a prefix': [{ prefix: 'ord_' }, 'ord_'],
  'an absent prefix': [{ prefix: undefined }, ''],
}

for (const [kind, row] of Object.entries(CLASSES)) {
  for (const [name, [options, prefix]] of Object.entries(FORMS))
    test(`${kind}: nextString and takeStrings write what format() writes: ${name}`, async (t) => {
      const { generator, last } = await ready(t, row)
      let id = last
      for (const base of [undefined, null, ...BASES]) {
        const text = await patiently(() => generator.nextString(base, options))
        t.is(text, format(++id, base, { prefix }))
        const texts = await patiently(() => generator.takeStrings(3, base, options))
        t.deepEqual(
          texts,
          [1n, 2n, 3n].map((more) => format(id + more, base, { prefix })),
        )
        id += 3n
        t.is(numberOf(parse(texts[2], base, { prefix })), id)
      }
      t.deepEqual(generator.takeStrings(0, 'hex', options), [])
    })

  test(`${kind}: an unknown base, option or prefix is an error, and takes no ID`, async (t) => {
    const { generator, last } = await ready(t, row)
    const wrong = [
      ['base64'],
      [{ prefix: 'ord_' }],
      ['dec', 'ord_'],
      ['dec', 5],
      ['dec', { perfix: 'ord_' }],
      ['dec', { prefix: 'ord_', size: 30 }],
      ['dec', { prefix: '1' }],
      ['base62', { prefix: 'Ord_' }],
      ['base58', { prefix: 7 }],
    ]
    for (const args of wrong) {
      t.throws(() => generator.nextString(...args), { code: 'ERR_FLAKE_OPTION' }, String(args))
      t.throws(() => generator.takeStrings(2, ...args), { code: 'ERR_FLAKE_OPTION' }, String(args))
    }
    t.is(await patiently(() => generator.nextBigInt()), last + 1n)
  })

  test(`${kind}: takeBigInts gives the IDs of take`, async (t) => {
    const { generator, last } = await ready(t, row)
    const bigints = await patiently(() => generator.takeBigInts(4))
    t.true(bigints instanceof BigUint64Array)
    t.deepEqual(
      [...bigints, ...split(await patiently(() => generator.take(2))).map(numberOf)],
      [1n, 2n, 3n, 4n, 5n, 6n].map((more) => last + more),
    )
    t.is(generator.takeBigInts(0).length, 0)
    for (const n of [-1, 1.5, '5', undefined, row.most + 1])
      t.throws(() => generator.takeBigInts(n), { code: 'ERR_FLAKE_OPTION', message: /^n / })
  })
}
