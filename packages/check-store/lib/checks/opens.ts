// Checks that the module opens clients, which all other checks need.

import { Finding } from '../finding.ts'
import type { Check, Trial } from '../trial.ts'

async function opens(trial: Trial) {
  const { open, wipe } = await trial.start()
  if (open !== 'function') {
    throw new Finding(
      `the default export of the module is ${open === 'undefined' ? 'missing' : `of type ${open}`}`,
      'an async function that opens a client and returns a RecordStore',
      'write `export default async () => ({ read, swap, names })`',
    )
  }
  trial.wipes = wipe === 'function'
  await trial.open()
  return `a client in each of ${trial.processes.length} processes`
}

export default [{ name: 'opens', run: opens, isNeeded: true }] satisfies Check[]
