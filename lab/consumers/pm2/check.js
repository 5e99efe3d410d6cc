// docs/run/pm2.md with a real PM2: its ecosystem file and its program, reloaded while all workers generate IDs, and moved from a
// folder to a Redis. The same program with NODE_APP_INSTANCE as the node number does generate equal IDs, which shows that
// this check sees them.

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { project, run } = require('../project.js')

const LIMIT_MS = 60_000
const PAGE = path.join(__dirname, '..', '..', '..', 'docs', 'run', 'pm2.md')

/** What each worker does besides: it writes its IDs to a file. */
const LOAD = `
import { appendFileSync } from 'node:fs'
const file = \`ids/\${process.pid}\`
appendFileSync(file, \`node \${flake.id}\\n\`)
setInterval(() => appendFileSync(file, flake.take(20).toString('hex').replaceAll(/.{16}/g, '$&\\n')), 1)
`

/** The JavaScript blocks of the page: the ecosystem file, the program, and others. */
const blocks = () =>
  [...fs.readFileSync(PAGE, 'utf8').matchAll(/^ *```javascript\n(.*?)^ *```$/gms)].map(([, code]) => code)

/** The page's program with another line for the generator. */
function programWith(line) {
  const [, program] = blocks()
  const changed = program.replace(/^const flake = .*$/m, line.trim())
  if (changed === program) throw new Error('The program of docs/run/pm2.md has no line "const flake = …"')
  return changed + LOAD
}

class Pm2 {
  constructor(folder) {
    this.folder = folder
    this.ids = path.join(folder, 'ids')
    fs.mkdirSync(this.ids, { recursive: true })
    const [ecosystem] = blocks()
    const here = ecosystem.replace('/var/lib/app/ids', path.join(folder, 'slots')).replace('PORT: 8080', 'PORT: 0') // any free one
    fs.writeFileSync(path.join(folder, 'ecosystem.config.cjs'), here)
  }

  /** Runs `pm2 …`; its daemon has a separate home, apart from any other PM2 of this machine. */
  call(...args) {
    const env = { PM2_HOME: path.join(this.folder, 'home') }
    const result = run(path.join(this.folder, 'node_modules', '.bin', 'pm2'), args, this.folder, { env })
    if (!result.ok) throw new Error(`pm2 ${args.join(' ')}: ${result.output}`)
  }

  write(program) {
    fs.writeFileSync(path.join(this.folder, 'main.mjs'), program)
  }

  /** The files of the workers so far: the node number of each, and its IDs. */
  workers() {
    return fs.readdirSync(this.ids).map((name) => {
      const [node, ...ids] = fs.readFileSync(path.join(this.ids, name), 'utf8').trimEnd().split('\n')
      return { node: Number(node.slice('node '.length)), ids }
    })
  }

  /** Waits until all of these workers have generated IDs. */
  async untilBusy(count) {
    const end = Date.now() + LIMIT_MS
    while (this.workers().filter(({ ids }) => ids.length > 200).length < count) {
      if (Date.now() > end) throw new Error(`only ${this.workers().length} of ${count} workers generated IDs`)
      await sleep(50)
    }
  }
}

/** Starts one program and reloads to another: what the workers of both made. */
async function reloaded(folder, before, after = before) {
  for (const name of ['ids', 'slots']) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  const pm2 = new Pm2(folder)
  try {
    pm2.write(before)
    pm2.call('start', 'ecosystem.config.cjs')
    await pm2.untilBusy(2)
    pm2.write(after)
    pm2.call('reload', 'orders')
    await pm2.untilBusy(4)
    pm2.call('delete', 'orders') // SIGINT, and waits for their ends
  } finally {
    pm2.call('kill')
  }
  const workers = pm2.workers()
  const ids = workers.flatMap((worker) => worker.ids)
  return { nodes: workers.map(({ node }) => node), count: ids.length, equal: ids.length - new Set(ids).size }
}

const told = ({ nodes, count, equal }) => `${equal} equal of ${count} IDs, nodes ${nodes}`

async function moveToStore(folder, report) {
  const { startRedis, wantRedis } = await import('../../../__test__/servers/redis.mjs')
  if (wantRedis() === undefined) return report('pm2: skipped, there is no redis-server', { ok: true })
  const server = await startRedis()
  try {
    const [, , , join] = blocks()
    const offset = /nodeOffset: (\d+)/.exec(join)[1]
    const command = path.join(folder, 'node_modules', 'flakeforge', 'dist', 'flakeforge.cjs')
    const created = run(process.execPath, [command, 'create', server.url, 'orders', '--node-offset', offset], folder)
    if (!created.ok) throw new Error(created.output)
    const found = await reloaded(folder, blocks()[1] + LOAD, programWith(join.replace('redis://localhost', server.url)))
    const inStore = found.nodes.filter((node) => node >= Number(offset)).length
    report(`pm2: from the folder to a Redis: ${told(found)}`, { ok: found.equal === 0 && inStore === 2, output: '' })
  } finally {
    await server.stop()
  }
}

module.exports = async function check(report) {
  const folder = project(__dirname)
  const joined = await reloaded(folder, blocks()[1] + LOAD)
  report(`pm2: reload with join(): ${told(joined)}`, {
    ok: joined.equal === 0 && joined.nodes.length === 4,
    output: '',
  })
  const own = programWith('const flake = new FlakeId({ id: Number(process.env.NODE_APP_INSTANCE) })')
  const numbered = await reloaded(folder, own.replace('await flake.close()', '')) // it has no slot to give back
  report(`pm2: reload with NODE_APP_INSTANCE: ${told(numbered)}`, { ok: numbered.equal > 0, output: '' })
  await moveToStore(folder, report)
}
