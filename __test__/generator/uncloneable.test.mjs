// structuredClone(), postMessage() and v8.serialize() would copy these objects without their methods, so they are
// rejected there.

import path from 'node:path'
import { serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { freshFolder } from '../servers/server.mjs'
import { FlakeId } from '../support/index.mjs'
import { opened } from '../support/segment.mjs'

/** One of each class, by name. */
async function all(t) {
  const folder = await freshFolder('uncloneable')
  const joined = await FlakeId.join(`file:${path.join(folder, 'slots')}`)
  t.teardown(() => joined.close())
  const { segment } = await opened(t)
  class Own extends FlakeId {
    more = { plain: true }
  }
  const seal = new FlakeId.Seal(Buffer.alloc(32, 7))
  return { seal, own: new Own({ id: 5 }), plain: new FlakeId({ id: 5 }), joined, segment }
}

/** Asserts that a call cannot clone this value. */
function refuses(t, call, name) {
  try {
    call()
    t.fail(name)
  } catch (error) {
    t.is(error.name === 'Error' ? 'DataCloneError' : error.name, 'DataCloneError', name) // v8.serialize() throws an Error
    t.regex(error.message, /flakeforge: this object cannot leave its thread.* could not be cloned/, name)
  }
}

test('cloning a generator is an error, directly and inside other data', async (t) => {
  const worker = new Worker('require("node:worker_threads").parentPort.once("message", () => {})', { eval: true })
  t.teardown(() => worker.terminate())
  for (const [name, made] of Object.entries(await all(t))) {
    for (const given of [made, [made], { deep: { made } }, new Map([['made', made]])]) {
      refuses(t, () => structuredClone(given), name)
      refuses(t, () => worker.postMessage(given), name)
      refuses(t, () => serialize(given), name)
    }
    refuses(t, () => new Worker('', { eval: true, workerData: made }), name)
  }
})
