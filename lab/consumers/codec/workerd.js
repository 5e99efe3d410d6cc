// Runs the contents of config.capnp in a workerd, and asks its workers. No workerd is left behind.

const { spawn } = require('node:child_process')
const { env } = require('../project.js')

const PATIENCE_MS = 60_000

/** Resolves with the ports of its sockets by their names, once it listens on all; rejects if it ends before. */
function portsOf(child, names) {
  return new Promise((resolve, reject) => {
    const ports = {}
    let text = ''
    child.stdio[3].setEncoding('utf8').on('data', (chunk) => {
      const lines = (text + chunk).split('\n')
      text = lines.pop()
      for (const line of lines) {
        const { socket, port } = JSON.parse(line)
        ports[socket] = port
      }
      if (names.every((name) => name in ports)) resolve(ports)
    })
    child.once('close', (code) => reject(new Error(`workerd ended with ${code}`)))
  })
}

/**
 * @param {string} folder the project with workerd and config.capnp
 * @param {Record<string, string>} paths what to ask each worker, by the name of its socket
 * @returns {Promise<Record<string, string>>} the answers' texts
 */
async function ask(folder, paths) {
  const { default: program } = require(require.resolve('workerd', { paths: [folder] }))
  const stdio = ['ignore', 'pipe', 'inherit', 'pipe']
  const child = spawn(program, ['serve', 'config.capnp', '--control-fd=3'], { cwd: folder, env, stdio })
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  try {
    const ports = await portsOf(child, Object.keys(paths))
    const asked = Object.entries(paths).map(async ([name, path]) => {
      const response = await fetch(`http://127.0.0.1:${ports[name]}${path}`)
      return [name, await response.text()]
    })
    return Object.fromEntries(await Promise.all(asked))
  } finally {
    clearTimeout(timer)
    child.kill()
  }
}

exports.ask = ask
