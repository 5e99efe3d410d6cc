// All IDs of a client are of one group and one layout. Servers name theirs; a difference is an error before an ID of it
// is handed out, and a recreated group is accepted only if all servers show it.

import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { connectToFirst, cut, idsIn, makeIds, startScripted, turns } from './scripted-server.mjs'

const ORDERS = { 'flakeforge-layout': 'twitter', 'flakeforge-group': '00000000000000a1' }
const AGAIN = { ...ORDERS, 'flakeforge-group': '00000000000000a2' }
const OTHER_LAYOUT = { 'flakeforge-layout': 'flake', 'flakeforge-group': '00000000000000b1' }
const SEGMENT = { 'flakeforge-group': '00000000000000c1' }

/** IDs labelled with this layout and group. */
const of =
  (headers, given = new Set()) =>
  (_request, response, n) => {
    const bytes = makeIds(n)
    for (const id of idsIn(bytes)) given.add(id)
    response.writeHead(200, { 'content-type': 'application/octet-stream', ...headers }).end(bytes)
  }

/** Servers with these scripts, and a client that has started with the first. */
async function started(t, scripts, options) {
  const servers = await Promise.all(scripts.map((script) => startScripted(t, script)))
  const remote = await connectToFirst(t, servers, { prefetch: 2, ...options })
  return { servers, remote }
}

const mismatch = (t, call, [one, other]) =>
  t.throwsAsync(call, { code: 'ERR_FLAKE_CONFIG_MISMATCH' }).then((error) => {
    for (const { url } of [one, other]) t.true(error.message.includes(url), error.message)
    return error
  })

for (const [what, theirs, ours, pattern] of [
  ['layout', OTHER_LAYOUT, ORDERS, /'orders' has the layout flake, and that of \S+ has the layout twitter\. /],
  ['kind', SEGMENT, ORDERS, /'orders' has no layout, like a SegmentId, and that of \S+ has the layout twitter\. /],
  ['group', AGAIN, ORDERS, /'orders' has the group 0+a2, and that of \S+ has the group 0+a1\. /],
  [
    'segment',
    { 'flakeforge-group': '00000000000000c2' },
    SEGMENT,
    /has the group 0+c2, and that of \S+ has the group 0+c1/,
  ],
  [
    'group, which it does not say',
    { 'flakeforge-layout': 'twitter' },
    ORDERS,
    /'orders' does not name its group, and that of/,
  ],
]) {
  test(`another ${what}: an error that names both servers, and none of its IDs`, async (t) => {
    const { servers, remote } = await started(t, [of(ours), of(ours)])
    const [first, second] = servers
    second.script = of(theirs)
    let failures = 0
    first.script = (...args) => (++failures > 1 ? of(ours) : cut)(...args)
    const error = await mismatch(t, remote.takeAsync(5), [second, first])
    t.regex(error.message, pattern)
    t.like(error, { server: second.url, other: first.url })
    await mismatch(t, remote.nextAsync(), [second, first]) // it stays an error: an operator must see it
    t.is(remote.stats.ids, 0)
    second.script = of(ours)
    t.is((await remote.takeAsync(5)).length, 40, 'until it is repaired')
  })
}

test('two flakeforge-servers on separate folders: the second is rejected', async (t) => {
  const servers = await Promise.all([1, 2].map(() => startServer({ args: ['--name', 'orders'] })))
  t.teardown(() => Promise.all(servers.map((server) => server.stop())))
  let isCut = false
  const fetch = (url, options) => {
    if (!isCut || !url.startsWith(servers[0].url)) return globalThis.fetch(url, options)
    isCut = false
    throw new Error('cut')
  }
  const remote = await connectToFirst(t, servers, { prefetch: 1, fetch })
  await remote.takeAsync(10)
  isCut = true
  const urls = servers.map((server) => ({ url: new URL(server.url).href }))
  await mismatch(t, remote.takeAsync(1000), urls.reverse())
})

test('another layout is rejected, even if no other server answers', async (t) => {
  const { servers, remote } = await started(t, [of(ORDERS), of(OTHER_LAYOUT)])
  servers[0].stop()
  await mismatch(t, remote.takeAsync(5), [servers[1], servers[0]])
})

test('available IDs stay usable while a server is rejected', async (t) => {
  const { servers, remote } = await started(t, [of(ORDERS), of(AGAIN)], { prefetch: 10 })
  let failures = 0
  servers[0].script = (...args) => (++failures > 1 ? of(ORDERS) : cut)(...args)
  remote.take(5)
  await servers[1].asked(2) // to give IDs, and to be compared
  await turns(() => true)
  t.is(remote.take(5).length, 40)
})

test('a recreated group: all servers show it, so it is accepted, and the remaining IDs of the old one are dropped', async (t) => {
  const { servers, remote } = await started(t, [of(ORDERS), of(ORDERS), of(ORDERS)], { prefetch: 10 })
  const given = new Set()
  remote.take(4)
  for (const server of servers) server.script = of(AGAIN, given)
  const after = idsIn(await remote.takeAsync(100))
  t.true(
    after.every((id) => given.has(id)),
    'none of the 6 that were left',
  )
  t.is(remote.stats.dropped, 6)
  t.is(remote.stats.ids, 104)
  t.is(after.length, new Set(after).size)
})

test('a recreated group that a refill meets, while no call waits: only IDs of the new one from then on', async (t) => {
  const { servers, remote } = await started(t, [of(ORDERS), of(ORDERS)], { prefetch: 10 })
  const given = new Set()
  for (const server of servers) server.script = of(AGAIN, given)
  remote.take(6)
  await turns(() => remote.stats.dropped === 4 && remote.stats.buffered > 0)
  const ids = remote.takeBigInts(remote.stats.buffered)
  t.true(
    ids.every((id) => given.has(id)),
    'none of the 4 that were left',
  )
})

test('a call that has some IDs of the old group gets all of the new one', async (t) => {
  const { servers, remote } = await started(t, [of(ORDERS), of(ORDERS)])
  const given = new Set()
  servers[0].script = (...args) => {
    for (const server of servers) server.script = of(AGAIN, given)
    of(ORDERS)(...args)
  }
  const ids = idsIn(await remote.takeAsync(25_000))
  t.is(new Set(ids).size, 25_000)
  t.true(ids.every((id) => given.has(id)))
  t.true(remote.stats.dropped >= 10_000)
})

test('while the server that gave the last IDs does not answer, another group is not accepted, and calls wait', async (t) => {
  const { servers, remote } = await started(t, [of(ORDERS), of(ORDERS)], { waitMs: 0 })
  const [first, second] = servers
  first.script = cut
  second.script = of(AGAIN)
  const error = await mismatch(t, remote.takeAsync(5), [second, first])
  t.regex(error.message, /has IDs of a different group than \S+, which sent the last ones and does not answer\./)
  t.is(remote.stats.ids, 0)
  const patient = await connectToFirst(t, [second, first], { prefetch: 2, waitMs: 60_000 }) // it knows only the new one
  t.is((await patient.takeAsync(5)).length, 40)
  first.script = of(AGAIN)
  t.is((await remote.takeAsync(5)).length, 40, 'now it shows the new one too')
})

test('the wait for that server ends when it is back', async (t) => {
  const { servers, remote } = await started(t, [of(ORDERS), of(ORDERS)], { waitMs: 60_000 })
  const [first, second] = servers
  first.script = cut
  second.script = of(AGAIN)
  const ids = remote.takeAsync(5)
  await second.asked(2)
  first.script = of(AGAIN)
  t.is((await ids).length, 40)
})

test('two groups behind one address: the one that came back is rejected', async (t) => {
  const { servers, remote } = await started(t, [of(ORDERS)])
  const [balancer] = servers
  const show = (...series) => {
    balancer.script = (...args) => of(series.length > 1 ? series.shift() : series[0])(...args)
  }
  show(AGAIN, ORDERS)
  await t.throwsAsync(remote.takeAsync(5), { code: 'ERR_FLAKE_CONFIG_MISMATCH' }, 'asked again, it shows the other')
  show(AGAIN)
  t.is((await remote.takeAsync(5)).length, 40)
  show(ORDERS)
  const more = remote.takeAsync(1000) // than it has available
  await t.throwsAsync(more, { code: 'ERR_FLAKE_CONFIG_MISMATCH' }, 'an abandoned group never comes back')
})

test('a server that sends the token back as its layout does not get it into an error', async (t) => {
  const token = 'a-token-that-is-secret'
  const { servers, remote } = await started(t, [of(ORDERS)], { token })
  servers[0].script = (request, response, n) =>
    of({ ...ORDERS, 'flakeforge-layout': request.headers.authorization })(request, response, n)
  const error = await t.throwsAsync(remote.takeAsync(5), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  t.regex(error.message, /layout Bearer …/)
  t.false(JSON.stringify(error).includes(token))
})
