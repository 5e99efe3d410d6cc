// In the ES build nothing can be required by its name, so this gives no package. It only names the file that has the names,
// for tools that collect what a program needs. The CommonJS build has named-cjs.ts in its place: see scripts/dist.js.

import type { Addon } from '../addon.ts'

/** Nobody calls `traced`: tools read it. */
export const loadAddon: (target: string) => Addon | undefined = Object.assign(() => undefined, {
  traced: () => import('#packages' as string),
})

export const loadClient = (_name: string): unknown => undefined
