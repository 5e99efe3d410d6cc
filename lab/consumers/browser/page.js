// Generates IDs in a page, and sends the results to check.js.

import FlakeId from '@flakeforge/binding-wasm32-wasi'

/** A call with a callback, as a promise. */
const later = (flake) =>
  new Promise((resolve, reject) => flake.next((error, id) => (error ? reject(error) : resolve(id))))

/** The code of the error that a call must throw. */
function codeOf(call) {
  try {
    call()
  } catch (error) {
    return error.code
  }
}

async function makeIds() {
  const flake = new FlakeId({ id: 5 })
  const ids = [flake.next(), await later(flake), await flake.nextAsync()]
  const many = Array.from({ length: 50 }, () => [...flake.takeBigInts(20_000)]).flat() // each waits for a few ms
  return {
    ids: ids.map((id) => String(BigInt(`0x${id.toString('hex')}`))),
    node: flake.decode(flake.next()).id,
    unique: new Set(many).size,
    files: codeOf(() => new FlakeId({ id: 6, shared: '/tmp/ids' })),
    isolated: crossOriginIsolated,
  }
}

const answer = await makeIds().catch((error) => ({ error: error.stack }))
await fetch('/answer', { method: 'POST', body: JSON.stringify(answer) })
