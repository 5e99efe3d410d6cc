// A worker with flakeforge/remote: it asks the servers that `?server=` names, and answers with the results of its
// calls.

import { layouts, RemoteFlakeId } from 'flakeforge'
import { RemoteFlakeId as sameOne } from 'flakeforge/remote'

const NAMES = { name: 'default', prefetch: 50 }

/** The code of an error, and its other fields that a program would use. */
async function errorOf(call) {
  try {
    await call()
  } catch ({ code, status, failures }) {
    return { code, status, reasons: failures?.map(({ server }) => server) }
  }
}

/** The texts of IDs that came as bytes, 8 each. */
function textsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return Array.from({ length: bytes.length / 8 }, (_, i) => String(view.getBigUint64(i * 8)))
}

async function use(servers) {
  const flake = await RemoteFlakeId.connect(servers, NAMES)
  const first = await flake.nextAsync()
  const atOnce = flake.next()
  const called = await new Promise((resolve, reject) => {
    flake.next((error, id) => (error === null ? resolve(id) : reject(error)))
  })
  const many = await flake.takeAsync(1000)
  const answer = {
    isSame: RemoteFlakeId === sameOne,
    type: first.constructor.name,
    texts: [first, atOnce, called, many].flatMap(textsOf),
    text: flake.nextString(),
    timestamp: layouts.flake.decode(first).timestamp,
    server: flake.stats.server,
  }
  await flake.close()
  return { ...answer, closed: await errorOf(() => flake.next()) }
}

export default {
  async fetch(request) {
    const [good, gone] = new URL(request.url).searchParams.getAll('server')
    return Response.json({
      ...(await use([good])),
      later: (await use([gone, good])).server,
      unknown: await errorOf(() => RemoteFlakeId.connect(good, { ...NAMES, name: 'nobody' })),
      none: await errorOf(() => RemoteFlakeId.connect(gone, { ...NAMES, waitMs: 0 })),
    })
  },
}
