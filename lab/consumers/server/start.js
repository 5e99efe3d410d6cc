// Starts the flakeforge-server that a folder has installed, as its users do: `npx flakeforge-server`, on a free port
// and with separate slots.

const { spawn } = require('node:child_process')
const { env } = require('../project.js')

const READY_MS = 60_000

/** Resolves with its URL once it is ready, or rejects with its output. */
async function start(folder) {
  const variables = { ...env, PORT: '0', FLAKEFORGE_STORE: `file:${folder}/ids` }
  const child = spawn('npx', ['--no', 'flakeforge-server'], { cwd: folder, env: variables, detached: true })
  let output = ''
  const url = new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        const [, found] = /ready at (\S+)\n/.exec(output) ?? []
        if (found !== undefined) resolve(found)
      })
    }
    child.once('close', (code) => reject(new Error(`it ended with ${code}:\n${output}`)))
    setTimeout(() => reject(new Error(`it is not ready:\n${output}`)), READY_MS).unref()
  })
  return { child, url }
}

exports.start = start
