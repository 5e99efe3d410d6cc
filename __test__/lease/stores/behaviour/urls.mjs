// Stores of a URL, in projects that have one package of the database, as users have them: the client is ours, and the process
// ends when its work is done.

import { freePort } from '../../../servers/server.mjs'
import { newProject, runIn } from '../../../support/project.mjs'

/** A database that needs no package. */
const NONE = 'no package'

const STORES = './target/rooms/lib/lease/stores'

export function urlPromises(suite) {
  const { kind } = suite
  const { file, open: call, scheme, path } = kind.program
  const open = (code) => `const store = require('${STORES}/${file}.js').${call}(process.argv[1])\n${code}`

  /** A program in a project with each package alone. */
  const inProjects = (title, body) => {
    for (const name of kind.packages ?? [NONE]) suite.test(`with ${name} alone: ${title}`, (t) => body(t, name))
  }
  const runWith = async (t, name, code, url) => runIn(await newProject(t, ...(name === NONE ? [] : [name])), code, url)

  inProjects('a URL takes every call, and close() lets the process end', async (t, name) => {
    const { url } = await suite.sharedSite()
    const code = open(`
      Promise.all([store.advance(process.pid + ' one', 1n, 1n), store.advance(process.pid + ' two', 1n, 2n)]).then(async (values) => {
        await store.close()
        await store.close()
        const after = await store.advance(process.pid + ' one', 1n).then(({ number }) => number, ({ code }) => code)
        console.log(values.map(({ number }) => number).join(), String(after))
      })`)
    t.is(await runWith(t, name, code, url), `1,2 ${kind.isNeverClosed ? '2' : 'ERR_FLAKE_STORE'}`)
  })

  inProjects('a URL that is not closed does not keep the process alive, but a step does', async (t, name) => {
    const { url } = await suite.sharedSite()
    const code = open(`store.list('g').then(async () => console.log(await store.list('g')))`)
    t.is(await runWith(t, name, code, url), '[]')
  })

  inProjects('a URL does not keep the process alive while its server is away', async (t, name) => {
    const { url, server } = await suite.startSite(t)
    const code = open(`
      store.list('g').then(() => {
        process.kill(${server.pid}, 'SIGKILL')
        return store.list('g').catch(({ code }) => console.log(code))
      })`)
    t.is(await runWith(t, name, code, url), 'ERR_FLAKE_STORE')
  })

  inProjects('a URL where no server is ends with close(), and so does the process', async (t, name) => {
    const nowhere = `${scheme}://me@127.0.0.1:${await freePort()}/${path}`
    const code = open(`
      let isLate = false
      store.list('g').catch(async ({ code, cause }) => {
        console.log(code, cause instanceof Error)
        await store.close()
        setTimeout(() => { isLate = true }, 1900).unref()
      })
      process.on('exit', () => console.log(isLate))`)
    t.is(await runWith(t, name, code, nowhere), 'ERR_FLAKE_STORE true\nfalse')
  })
}
