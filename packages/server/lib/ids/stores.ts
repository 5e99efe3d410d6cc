// The stores of the server: one client for each address, however many names use it. Addresses may contain a password, and are
// not shown.

import { openStore, type Store } from 'flakeforge/lease'
import { signOfContainer } from '../../../shared.ts'
import { ConfigError } from '../config/config-error.ts'

/** A store that is opened on first use. */
export class SharedStore {
  isFolder

  #address
  #store: Store | undefined

  constructor(address: string | undefined) {
    this.#address = address
    this.isFolder = isFolder(address)
  }

  open() {
    this.#store ??= opened(this.#address)
    return this.#store
  }

  async list(group: string) {
    return this.open().list(group)
  }

  async close() {
    await this.#store?.close?.()
  }
}

export class Stores {
  #stores: Map<string | undefined, SharedStore> = new Map()

  of(address: string | undefined) {
    const known = this.#stores.get(address) ?? new SharedStore(address)
    this.#stores.set(address, known)
    return known
  }

  open() {
    for (const store of this.#stores.values()) store.open()
  }

  async close() {
    await Promise.allSettled([...this.#stores.values()].map((store) => store.close()))
  }
}

/** Whether an address is that of a folder on this machine, as the default is. */
export const isFolder = (address: string | undefined) => address === undefined || address.startsWith('file:')

/** An address that cannot be opened is a mistake in the configuration; an unreachable store is not, and shows only later. */
function opened(address: string | undefined): Store {
  const sign = address === undefined ? signOfContainer() : undefined
  if (sign !== undefined && !process.env.FLAKEFORGE_STORE) throw new ConfigError(inContainer(sign))
  try {
    return openStore(address)
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}

const inContainer = (sign: string) =>
  `No store is set, and this server runs in a container (${sign}), where its own folder would give it slots that ` +
  'other servers have, too. Give all servers one store: --store redis://HOST, or postgres://…, mysql://…, etcd://…; the variable ' +
  'FLAKEFORGE_STORE does the same. On one machine it may be a folder on a volume that all containers mount: --store file:/ids.'
