// flakeforge/remote as its types declare it. Compiled as every kind of module.

import { type RemoteFailure, RemoteFlakeId, type RemoteOptions, type RemoteStats } from 'flakeforge/remote'

export const options: RemoteOptions = { name: 'orders', prefetch: '500', validityMs: 0, timeoutMs: 2_000, waitMs: null }

export async function calls(): Promise<void> {
  const remote = await RemoteFlakeId.connect(['http://localhost:8080', new URL('http://localhost:8081')], {
    ...options,
    token: process.env.IDS_TOKEN,
    signal: AbortSignal.timeout(5_000),
    fetch,
  })
  const bytes: Uint8Array = remote.next()
  const id: bigint = remote.nextBigInt()
  const text: string = remote.nextString('base62')
  remote.next((error: Error | null, id: Uint8Array) => void [error, id])
  const later: Uint8Array[] = [
    await remote.nextAsync({ signal: null }),
    await remote.takeAsync(20_000, { signal: AbortSignal.timeout(5) }),
    remote.take(5),
  ]
  for await (const each of remote) void (each satisfies Uint8Array)
  for await (const each of remote.ids({ signal: AbortSignal.timeout(5) })) void (each satisfies Uint8Array)
  const { ids, requests, retries, dropped, buffered, server }: RemoteStats = remote.stats
  void [bytes, id, text, later, ids + requests + retries + dropped + buffered, server.length]
  await remote.close()
}

export const reasons = (failures: RemoteFailure[]): string[] =>
  failures.map(
    ({ server, reason, status, code, retryAfterMs }) => `${server} ${reason} ${status} ${code} ${retryAfterMs}`,
  )

/** Code that must not compile. It is never called. */
export function mistakes(remote: RemoteFlakeId): void {
  // @ts-expect-error: the name is missing
  void RemoteFlakeId.connect('http://localhost', {})
  // @ts-expect-error: no such option
  void RemoteFlakeId.connect('http://localhost', { name: 'orders', prefetsch: 5 })
  // @ts-expect-error: an array has no numbers
  void RemoteFlakeId.connect([8080], { name: 'orders' })
  // @ts-expect-error: connect() makes it
  new RemoteFlakeId('http://localhost', { name: 'orders' })
  // @ts-expect-error: no such base
  remote.nextString('base64')
  // @ts-expect-error: it cannot be set
  remote.stats = {}
}
