'use strict'
// @ts-check

// That close ends all that a client has, so that its process can end.

/** @import { Check, Trial } from '../trial.js' */

const { Finding } = require('../finding.js')

const EXIT_MS = 5000

/** @param {Trial} trial */
async function close(trial) {
  const client = await trial.newClient()
  await client.read(trial.group('shared'), ['group'])
  if (client.has.close) await client.close()
  const exit = await client.process.ends(EXIT_MS)
  const what = client.has.close ? 'after close()' : 'of a store without close()'
  if (!exit.ended) {
    await client.process.kill()
    throw new Finding(
      `a process ${what} was still running ${EXIT_MS / 1000} s later`,
      'a process that can end',
      `${client.has.close ? 'end' : 'give a close() that ends'} the connections and timers of the client`,
    )
  }
  if (exit.with !== 0) {
    throw new Finding(`a process ${what} ended with ${exit.with}`, 'exit status 0', 'see what it printed above')
  }
  return client.has.close ? 'the process ends' : 'not given, and the process ends without it'
}

/** @type {Check[]} */
module.exports = [{ name: 'close', run: close }]
