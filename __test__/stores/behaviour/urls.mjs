// Stores of a URL, in projects with one package of the database, as users have them: the client is ours, and the
// process exits when its work is done.

import { freePort, until } from '../../servers/server.mjs'
import { newProject, runIn } from '../../support/project.mjs'
import { works } from '../../support/steps.mjs'

/** A database that needs no package. */
const NONE = 'no package'

/** An idle connection of postgres.js keeps the process alive for 5 s, and pools with default settings for 10 s. */
const IDLE_MS = 8000

const STORES = './target/rooms/lib/stores'

export function urlPromises(suite) {
  const { kind } = suite
  const { packages = [NONE] } = kind
  const crash = kind.signals.at(-1)
  const { file, open: call, schemes, path } = kind.program
  const open = (code) => `const store = require('${STORES}/${file}.js').${call}(process.argv[1])\n${code}`

  /** A program in a project with each package alone. */
  const inProjects = (title, body) => {
    for (const name of packages) suite.test(`with ${name} alone: ${title}`, (t) => body(t, name))
  }
  const projects = new Map()
  /** The project with this package, which all tests use: none of them writes there. */
  const projectWith = (name) => {
    if (!projects.has(name)) projects.set(name, newProject(undefined, ...(name === NONE ? [] : [name])))
    return projects.get(name)
  }
  const runWith = async (name, code, url) => runIn(await projectWith(name), code, url)

  inProjects('a URL supports every call, and close() lets the process exit', async (t, name) => {
    const { url } = await suite.sharedSite()
    const project = await projectWith(name)
    const code = open(`
      Promise.all([store.advance(process.pid + ' one', 1n, 1n), store.advance(process.pid + ' two', 1n, 2n)]).then(async (values) => {
        await store.close()
        await store.close()
        const after = await store.advance(process.pid + ' one', 1n).then(({ number }) => number, ({ code }) => code)
        console.log(values.map(({ number }) => number).join(), String(after))
      })`)
    const closed = kind.isNeverClosed ? '2' : 'ERR_FLAKE_STORE'
    for (const scheme of schemes) t.is(await runIn(project, code, url.replace(/^\w+/, scheme)), `1,2 ${closed}`)
  })

  inProjects('a URL that is not closed does not keep the process alive, but a step does', async (t, name) => {
    const { url } = await suite.sharedSite()
    const code = open(`
      store.list('g').then(async () => {
        console.log(await store.list('g'))
        let isLate = false
        setTimeout(() => { isLate = true }, ${IDLE_MS}).unref()
        process.on('exit', () => console.log(isLate))
      })`)
    t.is(await runWith(name, code, url), '[]\nfalse')
  })

  suite.test('a URL does not keep the process alive while its server is unreachable', async (t) => {
    const { url, server } = await suite.startSite(t)
    for (const name of packages) {
      await server.kill()
      await until(() => server.start().then(Boolean, () => false)) // the remains of the previous one may take a moment to disappear
      const code = open(`
        store.list('g').then(() => {
          process.kill(${server.pid}, '${crash}')
          const untilGone = () => store.list('g').then(untilGone, ({ code }) => console.log(code))
          return untilGone() // the server may still answer for a moment
        })`)
      t.is(await runWith(name, code, url), 'ERR_FLAKE_STORE', name)
    }
  })

  inProjects('a URL without a server ends with close(), and so does the process', async (t, name) => {
    const nowhere = `${schemes[0]}://me@127.0.0.1:${await freePort()}/${path}`
    const code = open(`
      let isLate = false
      store.list('g').catch(async ({ code, cause }) => {
        console.log(code, cause instanceof Error)
        await store.close()
        setTimeout(() => { isLate = true }, 1900).unref()
      })
      process.on('exit', () => console.log(isLate))`)
    t.is(await runWith(name, code, nowhere), 'ERR_FLAKE_STORE true\nfalse')
  })

  const { connectionsOf } = kind
  if (connectionsOf === undefined) return
  suite.test('a URL connects at the first step, and close() ends what it has opened', async (t) => {
    const site = kind.freshPlace ? await suite.freshPlace(await suite.sharedSite()) : await suite.startSite(t)
    const before = await connectionsOf(site)
    for (const scheme of schemes) {
      const store = kind.openUrl(site.url.replace(/^\w+/, scheme))
      t.is(await connectionsOf(site), before)
      await works(t, store)
      const opened = (await connectionsOf(site)) - before
      t.true(opened >= 1 && opened <= 2, `${opened}`)
      await store.close()
      await store.close()
      await t.throwsAsync(store.list('any'), { code: 'ERR_FLAKE_STORE', message: /closed/i })
      await until(async () => (await connectionsOf(site)) === before)
    }
  })
}
