// A text of 300,000 characters costs each call milliseconds, whatever it contains: quadratic time would take hours.
// Each call runs in a process that is killed after a minute.

import test from 'ava'
import { jsonOfChild } from '../support/index.mjs'

const TEXTS = [
  'f',
  '0',
  ' ',
  '.',
  '-',
  ':',
  '=',
  '@',
  '/',
  '"',
  "'",
  '\\n',
  '  x',
  '\\n  x',
  'token',
  'token =',
  'a=',
  'a:',
  'a@',
  "a:'",
  '://',
  '[',
  '%',
  '?',
  ',',
]

/** The calls that each text is passed to. Most of them reject it: the time goes into their messages. */
const CALLS = {
  'format and parse': `const { format, parse, isId } = require('flakeforge')
    attempt = (text) => [() => format(text, 'hex'), () => parse(text, 'hex'), () => parse(text, text), () => isId(text)]`,
  codec: `const { layouts, format, parse } = require('flakeforge/codec')
    attempt = (text) => [() => layouts.flake.decode(text), () => layouts.flake.encode({ timestamp: text }),
      () => layouts.flake.range(text, text), () => format(text, 'dec'), () => parse(text, 'base62')]`,
  'new FlakeId': `attempt = (text) => [() => new FlakeId({ id: text }), () => new FlakeId({ layout: text }),
    () => new FlakeId({ [text]: 1 }), () => new FlakeId({ id: 1, shared: text }), () => new FlakeId({ epoch: text })]`,
  join: `const given = { group: 'g', waitMs: 0 }
    attempt = (text) => ['', 'redis://', 'postgres://', 'mysql://', 'etcd://', 'file:'].map((scheme) => () => FlakeId.join(scheme + text, given))
      .concat(() => FlakeId.join('file:/nowhere', { group: text }), () => FlakeId.createGroup(text, given))`,
  printable: `const { printable, withoutEnd, withoutSecrets, withoutSecretsIn } = require('./target/rooms/lib/base/printable.js')
    const { causeOf, said } = require('./target/rooms/lib/base/errors/foreign.js')
    attempt = (text) => [() => said(text), () => said(text + 'x'), () => causeOf(new Error(text)), () => printable(text), () => withoutSecrets(text), () => withoutSecretsIn(text), () => withoutEnd(text + 'x'),
      () => withoutSecretsIn('redis://user:' + text + '@host')]`,
  RemoteFlakeId: `const { RemoteFlakeId } = require('flakeforge/remote')
    attempt = (text) => ['', 'http://'].map((scheme) => () => RemoteFlakeId.connect(scheme + text, { name: 'n', waitMs: 0, timeoutMs: 50 }))
      .concat(() => RemoteFlakeId.connect('http://127.0.0.1:1', { name: text, waitMs: 0 }))`,
}

for (const [name, source] of Object.entries(CALLS))
  test(name, async (t) => {
    const printed = await jsonOfChild(
      t,
      `import { createRequire } from 'node:module'
       const require = createRequire(process.cwd() + '/')
       let attempt
       ${source}
       let calls = 0
       for (const piece of ${JSON.stringify(TEXTS)}) {
         const text = piece.repeat(Math.ceil(3e5 / piece.length))
         for (const call of attempt(text)) {
           try { await (await call())?.close?.() } catch {}
           calls++
         }
       }
       console.log(calls)`,
    )
    t.true(printed >= TEXTS.length)
  })
