// The packages that the files of the CommonJS build require by name: `#packages` of package.json.

import type { Addon } from '../addon.ts'

declare const require: (name: '#packages') => {
  loadAddon: (target: string) => Addon | undefined
  loadClient: (name: string) => unknown
}

export const loadAddon = (target: string) => require('#packages').loadAddon(target)
export const loadClient = (name: string) => require('#packages').loadClient(name)
