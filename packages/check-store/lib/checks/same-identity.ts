// Checks that all reads so far had one identity, because nothing was lost. It runs last but for the loss.

import { Finding, show } from '../finding.ts'
import type { Check, Trial } from '../trial.ts'

async function staysSame(trial: Trial) {
  for (const [group, identities] of trial.identities) {
    const [first, other] = identities
    if (other === undefined) continue
    throw new Finding(
      `in ${Math.round(trial.ageMs / 1000)} s, reads of group ${show(group)} returned ${identities.size} identities, such as ${first} and ${other}`,
      'the same identity for as long as nothing is lost',
      'use a text that the server stores; a text derived from its clock, its uptime or its data changes on its own',
    )
  }
  return 'unchanged since the first read'
}

export default [{ name: 'same identity', run: staysSame }] satisfies Check[]
