// dist/web/, the ES modules for browsers: they have the exports of the CommonJS files with the same meaning, and a page
// pays only for what it uses.

import { createRequire } from 'node:module'
import path from 'node:path'
import vm from 'node:vm'
import { brotliCompressSync } from 'node:zlib'
import test from 'ava'
import { build } from 'esbuild'

const require = createRequire(import.meta.url)
const web = path.join(import.meta.dirname, '../../dist/web')
const load = (file) => import(path.join(web, file))

/** Bytes of a page with only these names, minified by a user's bundler and compressed by a server. */
async function sizeOf(names, file = 'codec.js') {
  const { outputFiles } = await build({
    stdin: { contents: `export ${names} from './${file}'`, resolveDir: web },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
  })
  return brotliCompressSync(outputFiles[0].contents).length
}

// The measured size, rounded up to the next 100: 700 of these are for times as numbers and for contradicting parts, 150
// for ranges beyond the layout's times, 250 for copies of layouts and for errors that JSON can hold, 250 for encode() without
// copies of its argument, 60 for decode() without bigints, 280 for units of times and Temporal, 130 for reading texts
// digit by digit, 900 for typed IDs, 20 for reversed bits in any layout, 70 for values that have no text, 60 for arguments after
// the last one and for times that an idOffset excludes. The aim for the whole codec is 6,000.
for (const [names, most] of [
  ['*', 12100],
  ['{ layouts }', 9400],
  ['{ Layout }', 9400],
  ['{ format, parse }', 3000],
  ['{ toBigInt, compare }', 800],
]) {
  test(`flakeforge/codec is small: ${names}`, async (t) => {
    const size = await sizeOf(names)
    t.log(`${size} bytes, minified and with brotli`)
    t.true(size <= most, `${size} bytes, ${most} at most`)
  })
}

test('require() of the entry for pages is the class, as it is in Node', (t) => {
  const FlakeId = require(path.join(web, 'index.cjs'))
  t.throws(() => new FlakeId(), { code: 'ERR_FLAKE_LOAD' })
  t.is(FlakeId.FlakeId, FlakeId)
  t.is(FlakeId.default, FlakeId)
  const { layouts, RemoteFlakeId } = FlakeId
  t.is(layouts.flake.decode(5n).counter, 5)
  t.is(typeof RemoteFlakeId, 'function')
})

test('a page with only RemoteFlakeId contains no codec', async (t) => {
  const [alone, both] = await Promise.all([
    sizeOf('{ RemoteFlakeId }', 'remote.js'),
    sizeOf('{ RemoteFlakeId, layouts }', 'index.js'),
  ])
  t.true(alone < both - 4000, `${alone} and ${both} bytes`)
})

for (const [file, entry] of [
  ['codec.js', 'flakeforge/codec'],
  ['remote.js', 'flakeforge/remote'],
]) {
  test(`web/${file} has the exports for Node.js`, async (t) => {
    t.deepEqual(Object.keys(await load(file)).sort(), Object.keys(require(entry)).sort())
  })
}

test('all entries share one Layout', async (t) => {
  const [codec, main] = await Promise.all(['codec.js', 'index.js'].map(load))
  t.is(codec.Layout, main.Layout)
  t.is(codec.layouts, main.layouts)
})

test('an ID has the same meaning', async (t) => {
  const { Layout, format, layouts, parse } = await load('codec.js')
  const plain = require('flakeforge/codec')
  const id = 1541815603606036480n
  t.deepEqual(Object.keys(layouts), Object.keys(plain.layouts))
  for (const name of Object.keys(layouts)) {
    t.deepEqual({ ...layouts[name].decode(id >> 11n) }, { ...plain.layouts[name].decode(id >> 11n) }, name)
  }
  t.is(format(id, 'base62'), plain.format(id, 'base62'))
  t.deepEqual(parse('1ptWyK4WgZU', 'base62'), plain.parse('1ptWyK4WgZU', 'base62'))
  const error = t.throws(() => new Layout('flaky'), { code: 'ERR_FLAKE_OPTION' })
  t.is(error.message, `layout must be one of ${Object.keys(layouts)}, but is 'flaky'`)
})

test('a prefix and an ID have the same meaning', async (t) => {
  const { format, isId, parse } = await load('codec.js')
  t.is(format(5n, 'dec', { prefix: 'ord_' }), 'ord_5')
  t.is(parse('ORD_5', 'dec', { prefix: 'ord_' })[7], 5)
  t.deepEqual(['5', 'x', 5n].filter(isId), ['5', 5n])
  for (const [text, base, message] of [
    ['usr_5', 'dec', "'usr_5' is not an ID in dec: 'ord_' and 64 bits at most"],
    ['5', 'base58', "'5' is not an ID in base58: 'ord_' and 64 bits at most"],
  ])
    t.throws(() => parse(text, base, { prefix: 'ord_' }), { code: 'ERR_FLAKE_ID', message })
  t.throws(() => parse('x'), { code: 'ERR_FLAKE_ID', message: "'x' is not an ID in dec: 64 bits at most" })
})

test('what browsers load can also be required, and has the classes of the other entries', async (t) => {
  const contents = `module.exports = [require('flakeforge'), require('flakeforge/lease'), require('flakeforge/codec'), require('flakeforge/remote')]`
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: path.join(web, '..', '..') },
    bundle: true,
    format: 'cjs',
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
  })
  t.true(Object.keys(metafile.inputs).includes('dist/web/index.cjs'))
  const { setTimeout, clearTimeout, queueMicrotask, performance, URL, TextEncoder, TextDecoder } = globalThis
  const page = { module: {}, setTimeout, clearTimeout, queueMicrotask, performance, URL, TextEncoder, TextDecoder }
  new vm.Script(outputFiles[0].text).runInNewContext(page)
  const [main, lease, codec, remote] = page.module.exports
  t.deepEqual(Object.keys(main).sort(), [...Object.keys(await load('index.js'))].sort())
  t.deepEqual(Object.keys(lease).sort(), Object.keys(await load('lease.js')).sort())
  t.is(main.layouts, codec.layouts)
  t.is(main.RemoteFlakeId, remote.RemoteFlakeId)
  const thrown = t.throws(() => new main.FlakeId(), { any: true })
  t.is(thrown.code, 'ERR_FLAKE_LOAD')
  t.true(thrown instanceof lease.FlakeError)
})
