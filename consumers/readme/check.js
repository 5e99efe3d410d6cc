'use strict'

// Follows the README from top to bottom in an empty folder, as a newcomer does: types the commands, runs the programs,
// and compares what they print with what the README says. flakeforge comes from the packed tarballs.

const { execFile } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const { env, packed } = require('../project.js')

const root = path.join(__dirname, '..', '..')
const README = fs.readFileSync(path.join(root, 'README.md'), 'utf8')

/** Replaces what differs from the README here: the package as it is now, and a Redis on a free port. */
function localized(text, redis) {
  const { main, platform } = packed()
  return text
    .replace(/^npm install flakeforge$/m, `npm install ${main} ${platform}`)
    .replaceAll('redis://localhost', redis.url)
}

/** What to run for a block; the README's TypeScript blocks are valid JavaScript too. */
function commandOf({ language, code }, folder, i) {
  if (language === 'sh') return ['bash', ['-euc', code]]
  const file = path.join(folder, `block-${i}.mjs`)
  fs.writeFileSync(file, code)
  return [process.execPath, [file]]
}

/** What is wrong with an output; undefined if it is as promised. */
function disagreement(documents, { code }, next, stdout) {
  const { agrees, promises, shape } = documents
  if (next?.language === '') {
    return shape(stdout) === shape(next.code) ? undefined : `the README shows\n${next.code}\nbut it prints\n${stdout}`
  }
  const printed = stdout.split('\n').slice(0, -1)
  for (const [line, promised] of promises(code).entries()) {
    if (promised !== undefined && !agrees(promised, printed[line] ?? ''))
      return `the README says '${promised}', but it prints '${printed[line]}'`
  }
}

async function follow(report, redis, folder) {
  const documents = await import('../../__test__/support/documents.mjs')
  const all = documents.blocks(README)
  const settings = { cwd: folder, env: { ...env, FLAKEFORGE_STORE: `file:${path.join(folder, 'slots')}` } }
  for (const [i, block] of all.entries()) {
    if (block.language === '') continue
    const name = `README, block ${i + 1}: ${block.code.trim().split('\n')[0]}`
    const [program, args] = commandOf({ ...block, code: localized(block.code, redis) }, folder, i)
    try {
      const { stdout } = await promisify(execFile)(program, args, { ...settings, timeout: 60_000 })
      const wrong = disagreement(documents, block, all[i + 1], stdout)
      report(name, { ok: wrong === undefined, output: wrong })
    } catch (error) {
      report(name, { ok: false, output: error.message })
    }
  }
}

module.exports = async (report) => {
  const { startRedis, wantRedis } = await import('../../__test__/servers/redis.mjs')
  if (!wantRedis()) return report('README (SKIPPED: it needs redis-server)', { ok: true })
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-readme-'))
  const redis = await startRedis()
  try {
    await follow(report, redis, folder)
  } finally {
    await redis.stop()
    fs.rmSync(folder, { recursive: true })
  }
}
