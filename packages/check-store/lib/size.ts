// The amount of work in a run of all checks. It takes half a minute, and a minute and a half on a busy machine; `allMs`
// leaves some seconds to end the processes.

export type Size = typeof FULL

export const FULL = {
  allMs: 90_000,
  checkMs: 25_000,
  callMs: 9000, // as long as flakeforge waits
  processes: 4,
  clients: 50,
  clockMs: 1500,
  many: 550,
  freshMs: 4000,
  freshRounds: 200,
  claims: 20,
  raceMs: 3000,
  raceRounds: 100,
  snapshotMs: 3000,
  snapshotRounds: 5,
  haltMs: 11_000,
  wipeMs: 3000,
  keptMs: 5000,
  keptRounds: 3,
  keptRecords: 20,
  ageMs: 20_000,
}
