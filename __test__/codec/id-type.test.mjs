// Typed IDs: what one object for a kind of IDs writes, reads and refuses, in Node and as browsers load it, and its forms for other
// libraries: a validator of theirs, and JSON Schema.

import { createRequire } from 'node:module'
import path from 'node:path'
import Ajv from 'ajv'
import test from 'ava'
import fc from 'fast-check'
import * as z from 'zod'
import { ALPHABETS, BASES, FlakeId, holds, ids, MAX, throwsCode } from '../support/index.mjs'

const require = createRequire(import.meta.url)
const web = await import(path.join(import.meta.dirname, '../../dist/web/codec.js'))
const { format, idType, Layout, layouts, Seal } = FlakeId

const ID = 7529332683575394305n
const TEXT = 'ord_6GZCG5W040001'
const KEY = Buffer.alloc(32, 7)
const sealed = (options) => new Seal(KEY, { tweak: 'orders', prefix: 'ord_', ...options })

for (const [where, idType] of Object.entries({
  main: FlakeId.idType,
  codec: require('flakeforge/codec').idType,
  web: web.idType,
})) {
  test(`${where}: an ID as text and back`, (t) => {
    const Order = idType('ord')
    t.is(Order.name, 'ord')
    for (const form of [ID, String(ID), `0x${ID.toString(16)}`, Buffer.from(ID.toString(16), 'hex')])
      t.is(Order.from(form), TEXT)
    t.is(Order.toBigInt(TEXT), ID)
    t.is(Order.parse(TEXT), TEXT)
    t.true(Order.is(TEXT))
    for (const other of ['usr_6GZCG5W040001', '6GZCG5W040001', `${TEXT}0`, '', 5, ID, null, undefined, {}, [TEXT]]) {
      t.false(Order.is(other))
      t.is(throwsCode(t, () => Order.parse(other), 'ERR_FLAKE_ID', TypeError).value, other)
      throwsCode(t, () => Order.toBigInt(other), 'ERR_FLAKE_ID', TypeError)
    }
  })
}

test('next takes the next ID of a generator', (t) => {
  const Order = idType('ord')
  const flake = new FlakeId({ id: 77 })
  const texts = Array.from({ length: 500 }, () => Order.next(flake))
  t.is(new Set(texts).size, 500)
  t.deepEqual(texts.toSorted(), texts, 'in base 32, they sort')
  t.true(texts.every((text) => Order.is(text) && flake.decode(Order.toBigInt(text)).id === 77))
  t.throws(
    () =>
      Order.next({
        nextBigInt: () => {
          throw new Error('the generator')
        },
      }),
    { message: 'the generator' },
  )
})

test('next refuses what is no generator, and is() anything that is no text, without a call of it', (t) => {
  for (const [where, make] of Object.entries({ main: idType, web: web.idType })) {
    const Order = make('ord')
    for (const other of [null, undefined, 5, 'flake', {}, { nextBigInt: 5 }, [], FlakeId, Object.create(null)]) {
      const error = throwsCode(t, () => Order.next(other), 'ERR_FLAKE_OPTION', TypeError)
      t.is(error.option, 'generator', where)
      t.is(error.value, other)
      t.regex(error.message, /^generator must be an object with nextBigInt\(\), but is /)
    }
    const bad = [
      Object.create(null),
      JSON.parse('{"constructor":{"name":{"toString":1}}}'),
      Symbol('s'),
      { toString: 1 },
    ]
    for (const value of [...bad, [TEXT], new String(TEXT)]) {
      t.false(Order.is(value), where)
      throwsCode(t, () => Order.parse(value), 'ERR_FLAKE_ID', TypeError)
      t.is(Order['~standard'].validate(value).issues.length, 1)
    }
  }
})

const named = fc.constantFrom(...BASES)
const prefixes = fc.constantFrom(undefined, null, '', 'a_', 'order_line_2_')

test('every base and prefix: the text is that of format(), it is read again, and matches the schema', (t) => {
  const ajv = new Ajv()
  const validators = new Map()
  const isRight = (id, base, prefix) => {
    const kind = idType('ord', { base, prefix })
    const { pattern } = kind.jsonSchema
    if (!validators.has(pattern)) validators.set(pattern, ajv.compile(kind.jsonSchema))
    const text = kind.from(id)
    return (
      text === `${prefix ?? 'ord_'}${format(id, base)}` &&
      kind.is(text) &&
      kind.parse(text) === text &&
      kind.toBigInt(text) === id &&
      validators.get(pattern)(text)
    )
  }
  holds(t, [ids, named, prefixes], isRight)
  for (const base of BASES) for (const id of [0n, 1n, MAX]) t.true(isRight(id, base, 'x_'), `${base} ${id}`)
})

test('is() is true for one text of each ID, and parse() gives that text', (t) => {
  const Order = idType('ord')
  for (const other of ['ord_6gzcg5w040001', 'ORD_6GZCG5W040001', 'ord_6GZCG5WO4OOOI']) {
    t.is(Order.parse(other), TEXT)
    t.false(Order.is(other), 'the texts of a Set or a Map are compared letter by letter')
  }
  const Decimal = idType('ord', { base: 'dec', prefix: '' })
  t.is(Decimal.parse('007'), '7')
  t.false(Decimal.is('007'))
})

test('a seal: the texts are its own, and it decides what is one', (t) => {
  for (const [options, base] of [
    [{}, undefined],
    [{ check: 2 }, 'base58'],
    [{ check: 3 }, 'base62'],
  ]) {
    const seal = sealed(options)
    const Order = idType('ord', { seal, base })
    const isMatch = new Ajv().compile(Order.jsonSchema)
    const isRight = (id) => {
      const text = Order.from(id)
      return text === seal.sealString(id, base) && Order.toBigInt(text) === id && Order.is(text) && isMatch(text)
    }
    holds(t, [ids], isRight, 200)
    const text = Order.from(ID)
    t.false(isMatch(text.slice(0, -1)) || isMatch(`${text}1`))
    t.false(Order.is(TEXT))
    t.false(Order.is(text.replace('ord_', 'usr_')))
  }
  const Order = idType('ord', { seal: sealed({ check: 3 }) })
  const text = Order.from(ID)
  const wrong = `${text.slice(0, -1)}${text.endsWith('2') ? '3' : '2'}`
  t.regex(throwsCode(t, () => Order.parse(wrong), 'ERR_FLAKE_ID', TypeError).message, /check characters/)
})

test('a seal of another prefix, or what is no seal, is refused', (t) => {
  for (const prefix of ['usr_', undefined, 'or_d_']) {
    const error = throwsCode(t, () => idType('ord', { seal: sealed({ prefix }) }), 'ERR_FLAKE_OPTION', RangeError)
    t.is(error.option, 'seal')
    t.regex(error.message, /'ord_'/)
  }
  t.notThrows(() => idType('ord', { prefix: '', seal: sealed({ prefix: undefined }) }))
  for (const seal of [5, 'x', {}, () => '', KEY])
    throwsCode(t, () => idType('ord', { seal }), 'ERR_FLAKE_OPTION', TypeError)
  for (const base of ['base32', 'dec', 'x', 5])
    throwsCode(t, () => idType('ord', { seal: sealed(), base }), 'ERR_FLAKE_OPTION', RangeError)
})

test('a layout: an ID that it cannot have made is refused, however it is given', (t) => {
  const late = 2n ** 63n + 5n
  for (const layout of [
    'twitter',
    layouts.twitter,
    {
      fields: [
        ['zero', 1],
        ['timestamp', 41],
        ['counter', 22],
      ],
    },
  ]) {
    const Tweet = idType('tw', { layout })
    t.is(Tweet.toBigInt(Tweet.from(ID)), ID)
    for (const call of [
      () => Tweet.from(late),
      () => Tweet.parse(idType('tw').from(late)),
      () => Tweet.toBigInt(idType('tw').from(late)),
    ])
      throwsCode(t, call, 'ERR_FLAKE_ID', TypeError)
    t.false(Tweet.is(idType('tw').from(late)))
  }
  t.true(idType('tw').is(idType('tw').from(late)))
  throwsCode(t, () => idType('tw', { layout: 'twiter' }), 'ERR_FLAKE_OPTION', RangeError)
  t.true(idType('x', { layout: new Layout('flake', { mode: 'spread' }) }).is(idType('x').from(late)))
})

test('names, prefixes and options', (t) => {
  for (const name of ['o', 'ord', 'order_line', 'a2', 'abcdefghijklmno'])
    t.is(idType(name).from(0n), `${name}_0000000000000`)
  for (const name of ['', '_', 'ord_', '1a', 'Ord', 'ö', 'ord-er', 'abcdefghijklmnop', ' ord'])
    t.is(throwsCode(t, () => idType(name), 'ERR_FLAKE_OPTION', RangeError).option, 'name')
  for (const name of [undefined, null, 5, {}]) throwsCode(t, () => idType(name), 'ERR_FLAKE_OPTION', TypeError)
  for (const prefix of ['ord', '_', '1_', 5, true])
    throwsCode(t, () => idType('ord', { prefix }), 'ERR_FLAKE_OPTION', RangeError)
  for (const base of ['base64', 5, '', false, 0, Number.NaN])
    throwsCode(t, () => idType('ord', { base }), 'ERR_FLAKE_OPTION', RangeError)
  throwsCode(t, () => idType('ord', { bsae: 'hex' }), 'ERR_FLAKE_OPTION', TypeError)
  throwsCode(t, () => idType('ord', 'hex'), 'ERR_FLAKE_OPTION', TypeError)
  for (const options of [undefined, null, {}]) t.is(idType('ord', options).from(ID), TEXT)
})

test('its functions need no object, and it cannot be changed', (t) => {
  const { from, is, parse, toBigInt, next } = idType('ord')
  t.deepEqual([TEXT, 'x', 5].filter(is), [TEXT])
  t.is(parse(from(toBigInt(next({ nextBigInt: () => ID })))), TEXT)
  t.throws(
    () => {
      idType('ord').is = () => true
    },
    { instanceOf: TypeError },
  )
})

test('Standard Schema: a value, or issues with the reason', (t) => {
  const { '~standard': standard } = idType('ord')
  t.deepEqual([standard.version, standard.vendor], [1, 'flakeforge'])
  t.deepEqual(standard.validate('ord_6gzcg5w040001'), { value: TEXT })
  for (const wrong of ['usr_6GZCG5W040001', 7529332683575394000, null, undefined]) {
    const { value, issues } = standard.validate(wrong)
    t.is(value, undefined)
    t.is(issues.length, 1)
    t.regex(issues[0].message, /'ord_'/)
  }
  const failing = {
    sealString: () => 'ord_11111111111',
    openString: () => {
      throw new Error('no addon')
    },
  }
  t.throws(() => idType('ord', { seal: failing })['~standard'].validate(TEXT), { message: 'no addon' })
  for (const schema of [
    standard.jsonSchema.input({ target: 'draft-07' }),
    standard.jsonSchema.output({ target: 'openapi-3.0' }),
  ])
    t.deepEqual(schema, { ...idType('ord').jsonSchema })
})

test('zod', (t) => {
  const Order = idType('ord')
  const schema = z.object({ id: z.custom(Order.is) })
  t.deepEqual(schema.parse({ id: TEXT }), { id: TEXT })
  t.false(schema.safeParse({ id: 'ord_x' }).success)
})

test('the digits in the patterns are those of the bases', (t) => {
  for (const [base, digits] of Object.entries(ALPHABETS)) {
    const [, last] = /(\[[^\]]+\])\{\d+\}\$$/.exec(idType('ord', { base }).jsonSchema.pattern)
    const pattern = new RegExp(`^${last}$`)
    const found = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter((each) =>
      pattern.test(each),
    )
    t.is(found.join(''), [...digits].sort().join(''), base)
  }
})
