// Checks that a swap that was answered true persists: in a new process, after its process was killed, and later.

import { Finding, show } from '../finding.ts'
import { slotName } from '../slot-name.ts'
import { monotonicNow, sleep } from '../time.ts'
import type { Check, Trial } from '../trial.ts'

async function kept(trial: Trial) {
  const group = trial.group('kept')
  const { keptMs, keptRounds, keptRecords } = trial.size
  const end = monotonicNow() + keptMs
  let round = 0
  for (; round < keptRounds && (round === 0 || monotonicNow() < end); round++) {
    const numbers = Array.from({ length: keptRecords }, (_, i) => round * keptRecords + i)
    const texts = Object.fromEntries(numbers.map((n) => [slotName(n), trial.text()]))
    const [writer, reader] = await Promise.all([trial.newClient(), trial.newClient()])
    await trial.make(writer, group, texts)
    await writer.process.kill()
    const names = Object.keys(texts)
    const seen = await reader.values(group, names)
    await reader.process.kill()
    const wrong = names.findIndex((name, i) => seen[i] !== texts[name])
    if (wrong < 0) continue
    throw new Finding(
      `a swap was answered true and its process was killed; in a new process the record is ${show(seen[wrong])}`,
      show(texts[names[wrong]]),
      'answer true only when the server has confirmed the write, committed and as durable as it can be',
    )
  }
  return `all of ${round * keptRecords} swaps of ${round} processes that were killed after the answer`
}

async function noExpiry(trial: Trial) {
  const restMs = Math.min(trial.size.ageMs - trial.ageMs, trial.leftMs() - 10_000)
  if (restMs > 0) await sleep(restMs)
  const reader = await trial.newClient()
  const found = await trial.find(reader)
  await reader.process.kill()
  const seconds = Math.floor(trial.ageMs / 1000)
  const lost = found.filter(({ wanted, seen }) => seen !== wanted)
  if (lost.length > 0) {
    const [{ group, name, wanted, seen }] = lost
    throw new Finding(
      `after ${seconds} s, ${lost.length} of ${found.length} records are not as written: '${name}' of group ${show(group)} is ${show(seen)}`,
      show(wanted),
      'turn off expiry (TTL) and eviction for these records, and answer true only when a swap is written',
    )
  }
  return `${found.length} records are as they were written, up to ${seconds} s ago; a longer expiry cannot be seen here`
}

export default [
  { name: 'kept', run: kept },
  { name: 'no expiry', run: noExpiry },
] satisfies Check[]
