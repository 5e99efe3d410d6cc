// The one way in which a client's memory is copied: `node --build-snapshot` saves it, and every process that starts from the
// file begins with it. It names no module of Node: bundlers for browsers would look for it.

const { process: node } = globalThis as Partial<typeof globalThis>

/** Calls back in each process that starts with a copy of this one's memory. Node before 20.16 cannot detect this. */
export function whenCopied(forget: () => void) {
  const { startupSnapshot } = node?.getBuiltinModule?.('node:v8') ?? {}
  if (startupSnapshot?.isBuildingSnapshot?.()) startupSnapshot.addDeserializeCallback(forget)
}
