// Words of others in our messages: on one line, without secrets, bounded; causes are copies without what a package was
// called with.

import { createRequire } from 'node:module'
import util from 'node:util'
import test from 'ava'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const foreign = require('../../target/rooms/lib/base/errors/foreign.js')
const errors = require('../../target/rooms/lib/base/errors.js')

const { causeOf, forgetSecret, keepSecret, keepSecretsOf, said, warn } = foreign

/** Everything that a logger could print of it. */
const printed = (error) =>
  [
    util.inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: false }),
    JSON.stringify(error),
    error?.stack,
    ...[error?.cause, ...(error?.errors ?? [])].filter((inner) => inner !== undefined).map(printed),
  ].join('\n')

test('what others say is on one line, without control characters or direction marks, and bounded', (t) => {
  t.is(said('a\r\n\tb\u001b[31mc\u0007\n'), 'a b [31mc')
  t.is(said('a\u202eb\u2028c\ud800'), 'a\\u{202e}b\\u{2028}c\\u{d800}')
  t.is(said('x'.repeat(5000)), `${'x'.repeat(300)}…`)
  t.is(said(new Error('down')), 'down')
  t.is(said(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })), 'ECONNREFUSED')
  t.is(said({ sqlMessage: 'no table', message: 'longer' }), 'no table')
  for (const odd of [undefined, null, 5, Symbol('s'), {}, new Proxy({}, { get: () => Proxy.no() })]) said(odd)
})

test('secrets that were given to us are not repeated, in whatever form', (t) => {
  keepSecretsOf('redis://me:pa%2Fss"w@h:1/2?sslpassword=p%40ram')
  keepSecret('t0ken+of/this=test')
  for (const form of ['pa%2Fss"w', 'pa/ss"w', 'pa%2Fss%22w', 'pa/ss\\"w', 'PA/SS"W', 'p@ram', 'p%40ram'])
    t.is(said(`AUTH with ${form}, no`), 'AUTH with …, no', form)
  t.is(said(`a=t0ken%2Bof%2Fthis%3Dtest`), 'a=…')
  t.is(said('t0ken+of/this=test'.repeat(40)), '…'.repeat(40))
})

test('a secret is found before its control characters are removed, and may have half a character', (t) => {
  keepSecretsOf('redis://u:pw%00x%0Ay%1bz@h')
  t.is(said('AUTH pw\u0000x\ny\u001bz, no'), 'AUTH …, no')
  t.notThrows(() => keepSecretsOf('redis://u:half\ud83d@h'))
  t.is(said('AUTH half\ud83d, no'), 'AUTH …, no')
})

test('a token that was replaced is forgotten', (t) => {
  keepSecret('first-t0ken')
  keepSecret('second-t0ken')
  forgetSecret('first-t0ken')
  t.is(said('first-t0ken second-t0ken'), 'first-t0ken …')
})

test('secrets that nobody gave to us are known by their form', (t) => {
  for (const [text, shown] of [
    ['{"name":"u","password":"S3cr3tPw"}', '{"name":"u","password":…}'],
    ["{ 'access_token' : 'S3cr3tPw' }", "{ 'access_token' : … }"],
    ['authorization: Bearer S3cr3tPw\r\nhost: h', 'authorization: … host: h'],
    ['Proxy-Authorization: Basic S3cr3tPw=', 'Proxy-Authorization: …'],
    ['authorization: S3cr3tPw', 'authorization: …'],
    ['{"headers":{"authorization":"Bearer S3cr3tPw"}}', '{"headers":{"authorization":…}}'],
    ['password authentication failed for user "u"', 'password authentication failed for user "u"'],
    ['Invalid password: it is too old', 'Invalid password: it is too old'],
  ])
    t.is(said(text), shown)
})

test('a long text is read in part, and its last word is not cut in half', (t) => {
  const address = `redis://u:${'p'.repeat(20_000)}@h`
  t.is(said(`${'redis://a:b@h\n'.repeat(20)}${address}`), `${'redis://…@h '.repeat(20)}…`)
  t.is(said(address), '…')
})

test('a password that is the user, host or database too stays readable in messages', (t) => {
  keepSecretsOf('postgres://postgres-user:postgres-user@h/db')
  t.is(said('role "postgres-user" does not exist'), 'role "postgres-user" does not exist')
  keepSecretsOf('postgres://u:z9@h/db')
  t.is(said('z9 and z99'), '… and z99', 'a short one is a word')
})

/** Errors as packages throw them, with what they were called with. */
function thrownByPackages() {
  const command = { name: 'auth', args: ['default', 'S3cr3tPw'] }
  const reply = Object.assign(new Error('WRONGPASS invalid\n\u001b[2J'), { command, code: 'EAUTH', errno: 7 })
  const ofNode = Object.assign(new Error('all failed'), { lastNodeError: reply })
  const several = new AggregateError([reply, Object.assign(new Error('x'), { options: command })], 'several')
  several.errors[1].cause = several // a circle
  return [
    reply,
    ofNode,
    several,
    Object.assign(new Error('outer', { cause: ofNode }), { sqlState: '28000', sql: 'S3cr3tPw' }),
  ]
}

test('a cause is a copy: name, message, codes and calls, at every depth', (t) => {
  for (const thrown of thrownByPackages()) {
    const error = errors.storeError('Redis: no.', thrown)
    t.notRegex(printed(error), /S3cr3tPw/)
    t.false(printed(error).includes('\u001b'))
    t.true(error.cause instanceof Error)
    t.regex(error.cause.stack, /foreign\.test\.mjs/)
  }
  const [reply, ofNode, several, outer] = thrownByPackages().map((thrown) => causeOf(thrown))
  t.like(reply, { message: 'WRONGPASS invalid [2J', code: 'EAUTH', errno: 7 })
  t.is(ofNode.cause.code, 'EAUTH', 'the reason that ioredis keeps elsewhere')
  t.is(several.errors.length, 2)
  t.like(outer, { sqlState: '28000', sql: undefined })
  t.is(causeOf(new TypeError('t')).name, 'TypeError')
  const ours = errors.storeError('ours')
  t.is(causeOf(ours), ours)
})

test('a cause has an end: errors that contain themselves, many errors, and a message that looks like calls', (t) => {
  const circle = Object.assign(new AggregateError([], 'round'), {
    stack: 'x\n    at redis://u:S3cr3tPw@h\n'.repeat(1e4),
  })
  circle.errors = Array.from({ length: 1e4 }, (_, i) => (i % 2 === 0 ? circle : new Error(`${i}`, { cause: circle })))
  circle.cause = circle
  const copy = causeOf(circle)
  t.is(copy.cause, undefined)
  t.true(copy.errors.length > 1 && copy.errors.length < 20)
  t.true(copy.stack.length < 20_000)
  t.notRegex(copy.stack, /S3cr3tPw/)
})

test('an option that is an object is not shown, hidden properties included', (t) => {
  const client = { options: { password: 'S3cr3tPw' } }
  const error = errors.clientError(client, 'No.')
  t.notRegex(printed(error), /S3cr3tPw/)
  t.is(error.value, client)
})

test('no error of ours has a control character in its message', (t) => {
  t.is(errors.storeError('a\u001b\nb').message, 'a\\u{1b}\\nb')
  t.notRegex(errors.optionTypeError('x', '\u202e', 'y').message, /\u202e/)
})

test.serial('a warning is clean', async (t) => {
  const warned = once(process, 'warning')
  warn('FLAKEFORGE_TEST', 'see\u001b[2J redis://u:S3cr3tPw@h?x=y now')
  const [warning] = await warned
  t.like(warning, { code: 'FLAKEFORGE_TEST', message: 'see\\u{1b}[2J redis://…@h?… now' })
})
