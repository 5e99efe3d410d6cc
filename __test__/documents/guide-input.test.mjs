// The recipes of docs/data/input.md and docs/data/databases/ with everything that a program may hold instead of an ID's text: each one gives the right
// digits or says no, and none turns two IDs into one.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { blocksOf, installed, program, root } from '../support/guides.mjs'

const RECIPES = blocksOf('data/input.md', 'js')
const INLINE = [...readFileSync(join(root, 'docs/data/input.md'), 'utf8').matchAll(/`(app\.[^`]+)`/g)].map(
  ([, code]) => code,
)
const recipeWith = (text) => RECIPES.find((code) => code.includes(text))

/** Runs a recipe and then `more`, which prints one JSON; returns it. */
async function resultOf(t, recipe, more) {
  const file = await program(await installed(t), 'recipe.mjs', `${recipe}\n${more}`)
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
  t.is(status, 0, stderr)
  return JSON.parse(stdout.trimEnd().split('\n').at(-1))
}

const ID = '7529332683575394305'

/** What a program may reply with, as code, and what of it may reach a client: the digits, null, or nothing. */
const REPLIES = {
  bigint: `${ID}n`,
  Buffer: `Buffer.from((${ID}n).toString(16).padStart(16, '0'), 'hex')`,
  text: `'${ID}'`,
  rounded: 'Number(7529332683575394305n)',
  rubbish: "'12x'",
}
const RIGHT = { bigint: ID, Buffer: ID, text: ID, rounded: null, rubbish: null }

test('Fastify: the text of a reply', async (t) => {
  const replies = Object.entries(REPLIES).map(([name, code]) => `${JSON.stringify(name)}: ${code}`)
  const found = await resultOf(
    t,
    recipeWith("app.get('/optional'").replace('const app = Fastify()', 'const app = Fastify()\nglobalThis.app = app'),
    `const other = Fastify()
    const replies = { ${replies.join(', ')} }
    const asked = {}
    for (const [name, value] of Object.entries(replies))
      other.get('/' + name, response('string'), () => ({ id: format(value) }))
    for (const name of Object.keys(replies)) {
      const reply = await other.inject('/' + name)
      asked[name] = reply.statusCode === 200 ? reply.json().id : null
    }
    console.log(JSON.stringify(asked))`,
  )
  t.deepEqual(found, RIGHT)
})

test('Fastify: the text or null of a reply', async (t) => {
  const all = Object.entries({ ...REPLIES, null: 'null', undefined: 'undefined' })
  const replies = all.map(([name, code]) => `${JSON.stringify(name)}: ${code}`)
  const found = await resultOf(
    t,
    recipeWith("app.get('/optional'"),
    `const other = Fastify()
    const replies = { ${replies.join(', ')} }
    const asked = {}
    for (const [name, value] of Object.entries(replies))
      other.get('/' + name, response(['string', 'null']), () => ({ id: textOrNull(value) }))
    for (const name of Object.keys(replies)) {
      const reply = await other.inject('/' + name)
      asked[name] = reply.statusCode === 200 ? reply.json().id : 'refused'
    }
    console.log(JSON.stringify(asked))`,
  )
  const right = Object.entries({ ...RIGHT, undefined: null }).map(([name, text]) => [name, text ?? 'refused'])
  t.deepEqual(found, { ...Object.fromEntries(right), null: null })
})

test('Express and Fastify with jsonReplacer: bigints and Buffers are text, and a rounded number stays one, as the page says', async (t) => {
  const all = Object.entries({ ...REPLIES, null: 'null' })
  const inlineWith = (text) => INLINE.find((code) => code.includes(text))
  const more = `
    import express from 'express'
    import Fastify from 'fastify'
    import { jsonReplacer } from 'flakeforge'
    const replies = { ${all.map(([name, code]) => `${JSON.stringify(name)}: ${code}`).join(', ')} }
    const found = { express: {}, fastify: {} }
    {
      const app = express()
      ${inlineWith("'json replacer'")}
      app.get('/:name', (request, response) => response.json({ id: replies[request.params.name] }))
      const server = app.listen(0, '127.0.0.1')
      await new Promise((resolve) => server.once('listening', resolve))
      for (const name in replies)
        found.express[name] = (await (await fetch('http://127.0.0.1:' + server.address().port + '/' + name)).json()).id
      server.close()
    }
    {
      const app = Fastify()
      ${inlineWith('setReplySerializer')}
      app.get('/:name', (request) => ({ id: replies[request.params.name] }))
      for (const name in replies) found.fastify[name] = (await app.inject('/' + name)).json().id
    }
    console.log(JSON.stringify(found))`
  const expected = { ...RIGHT, rounded: Number(ID), rubbish: '12x', null: null }
  t.deepEqual(await resultOf(t, '', more), { express: expected, fastify: expected })
})

test('GraphQL: what the scalar writes and what it reads', async (t) => {
  const replies = Object.entries(REPLIES).map(([name, code]) => `${JSON.stringify(name)}: ${code}`)
  const found = await resultOf(
    t,
    recipeWith('GraphQLScalarType'),
    `const written = {}, read_ = {}
    for (const [name, value] of Object.entries({ ${replies.join(', ')} })) {
      try { written[name] = FlakeId.serialize(value) } catch { written[name] = null }
      try { read_[name] = String(FlakeId.parseValue(value)) } catch { read_[name] = null }
    }
    console.log(JSON.stringify({ written, read: read_ }))`,
  )
  t.deepEqual(found.written, RIGHT)
  t.deepEqual(found.read, { ...RIGHT, bigint: null, Buffer: null })
})

/** What comes from outside: only decimal text of 64 bits is an ID. */
const INPUTS = [ID, '0', '18446744073709551615', '18446744073709551616', '-1', '0x10', '0b11', '', ' 7', '7 ', '1e3', '7.0', '12x', '７', null, true, 7, 7529332683575394000, [], {}, ['7']] // biome-ignore format: one line
const GOOD = [ID, '0', '18446744073709551615']

for (const [name, recipe, read] of [
  ['zod', 'z.object', '(value) => Customer.parse({ id: value }).id'],
  [
    'Standard Schema',
    "'~standard'",
    "(value) => { const { value: id, issues } = FlakeId['~standard'].validate(value); if (issues) throw issues; return id }",
  ],
  ['GraphQL', 'GraphQLScalarType', '(value) => FlakeId.parseValue(value)'],
]) {
  test(`${name}: only decimal text of 64 bits is accepted`, async (t) => {
    const more = `
      const read_ = ${read}
      const accepted = []
      for (const value of ${JSON.stringify(INPUTS)}) {
        try { accepted.push([value, String(read_(value))]) } catch {}
      }
      console.log(JSON.stringify(accepted))`
    t.deepEqual(await resultOf(t, recipeWith(recipe), more), GOOD.map((id) => [id, id])) // biome-ignore format: one line
  })
}

test('Fastify and Express: a path with anything else is a 400 or a 404, never a 500', async (t) => {
  const paths = [...INPUTS.filter((value) => typeof value === 'string' && value !== ''), '%00', '%F0', 'null', '..%2F7']
  const expected = paths.map((text) => (GOOD.includes(text) ? 200 : 400))
  const ask = `const paths = ${JSON.stringify(paths)}.map((text) => '/customers/' + (text.startsWith('%') || text.includes('%2F') ? text : encodeURIComponent(text)))`
  const ofFastify = `${ask}
    const codes = []
    for (const url of paths) codes.push((await app.inject(url)).statusCode)
    console.log(JSON.stringify(codes))`
  t.deepEqual(await resultOf(t, recipeWith("format: 'id'"), ofFastify), expected)

  const express = recipeWith("app.param('id'").replace('server.close()', '')
  const ofExpress = `${ask}
    const codes = []
    for (const url of paths) codes.push((await fetch('http://127.0.0.1:' + server.address().port + url)).status)
    server.close()
    console.log(JSON.stringify(codes))`
  t.deepEqual(await resultOf(t, express, ofExpress), expected)
})

for (const page of ['drizzle', 'drizzle-1']) {
  test(`${page}: the column of text gets the digits, or nothing`, async (t) => {
    const recipe = blocksOf(`data/databases/${page}.md`, 'ts').find((code) => code.includes('customType'))
    const [, type] = /customType(?:<[^>]*>)?\((\{.*?\})\)$/ms.exec(recipe)
    const all = { ...REPLIES, hex: "'0x10'", null: 'null', empty: "''" }
    const replies = Object.entries(all).map(([name, code]) => `${JSON.stringify(name)}: ${code}`)
    const more = `
      import { format, toBigInt } from 'flakeforge'
      const { toDriver, fromDriver } = ${type}
      const written = {}
      for (const [name, value] of Object.entries({ ${replies.join(', ')} }))
        try { written[name] = String(fromDriver(toDriver(value))) } catch { written[name] = null }
      const read_ = ['', ' 7', '12x', null].map((value) => { try { return String(fromDriver(value)) } catch { return null } })
      console.log(JSON.stringify({ written, read_ }))`
    t.true(recipe.startsWith("import { format, toBigInt } from 'flakeforge'"))
    t.deepEqual(await resultOf(t, '', more), {
      written: { ...RIGHT, hex: '16', null: null, empty: null },
      read_: [null, null, null, null],
    })
  })
}

test('Drizzle with typed IDs: the column gets the text of such an ID, or nothing', async (t) => {
  const [, type] = /`customType<[^(]*>\((\{.*\})\)`/.exec(readFileSync(join(root, 'docs/data/input.md'), 'utf8'))
  const more = `
    import { idType } from 'flakeforge'
    const Order = idType('ord')
    const { toDriver, fromDriver } = ${type}
    const id = Order.from(7529332683575394305n)
    const given = { id, buffer: Buffer.from('687d9ba5c5c00001', 'hex'), bigint: 7529332683575394305n, text: '7529332683575394305', null: null }
    const all = Object.entries(given).map(([name, value]) => {
      try { return [name, toDriver(value) === id && fromDriver(id) === id] } catch ({ code }) { return [name, code] }
    })
    console.log(JSON.stringify(Object.fromEntries(all)))`
  const refused = 'ERR_FLAKE_ID'
  t.deepEqual(await resultOf(t, '', more), { id: true, buffer: refused, bigint: refused, text: refused, null: refused })
})

test('the validator of OpenAPI: only the text of a number without leading zeros', async (t) => {
  const more = `console.log(JSON.stringify(${JSON.stringify(INPUTS)}.filter((value) => isValid(value))))`
  // A pattern cannot express "below 2^64": the page says so.
  t.deepEqual(await resultOf(t, recipeWith('new Ajv('), more), [...GOOD, '18446744073709551616'])
})
