// Our own databases pass flakeforge-check-store with each of their clients: rules for all stores are tested only there.
// __test__/stores tests what is specific to a server.

import anyTest from 'ava'
import { DATABASES } from '../stores/databases.mjs'
import { allAreOk, moduleOf, resultsOf, test } from './suite.mjs'

const here = JSON.stringify(new URL('database.mjs', import.meta.url))
const servers = []

anyTest.after.always(() => Promise.all(servers.map(async (server) => (await server).stop())))

for (const [name, kind] of Object.entries(DATABASES)) {
  let started
  const server = () => {
    if (started === undefined) {
      started = kind.start()
      servers.push(started)
    }
    return started
  }
  const run = kind.isInstalled() ? anyTest : anyTest.skip
  for (const client of Object.keys(kind.clients)) {
    const passes = async (t) => {
      const url = kind.urlOf(await server()).replace(/^etcd:/, 'http:')
      const args = [name, client, url].map((text) => JSON.stringify(text)).join(', ')
      const file = moduleOf(`import { openDatabase } from ${here}\nexport default openDatabase(${args})`)
      allAreOk(t, await resultsOf(file))
    }
    test(`${name}, ${client}: passes all checks`, passes, run)
  }
}
