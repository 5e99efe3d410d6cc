// `flakeforge/lease` on runtimes without an addon: every export throws an error that names the alternative.

import { noAddon } from '../base/errors/portable.ts'

export type { FlakeErrorClass, FlakeErrorCode } from '../base/errors/flake-error.ts'
export { FlakeError } from '../base/errors/flake-error.ts'

/** @deprecated use `RemoteFlakeId` of flakeforge/remote: this runtime can hold no slot */
export class LeasedFlakeId {
  /** @throws {Error} `ERR_FLAKE_LOAD`: there is no addon on this runtime. The message names the alternative. */
  constructor() {
    throw noAddon('new LeasedFlakeId()')
  }
}

/** @deprecated use `RemoteFlakeId` of flakeforge/remote: this runtime can reach no store */
export class SegmentId {
  /** @throws {Error} `ERR_FLAKE_LOAD` */
  constructor() {
    throw noAddon('new SegmentId()')
  }

  /** @throws {Error} `ERR_FLAKE_LOAD` */
  static async open(_store?: unknown, _options?: unknown): Promise<never> {
    throw noAddon('SegmentId.open()')
  }
}

export async function changeStores(_from?: unknown, _to?: unknown, _what?: unknown): Promise<never> {
  throw noAddon('changeStores()')
}

export async function restored(_store?: unknown, _what?: unknown): Promise<never> {
  throw noAddon('restored()')
}

const refusing =
  (call: string) =>
  (_given?: unknown): never => {
    throw noAddon(`${call}()`)
  }

export const fileStore: (given?: unknown) => never = /* @__PURE__ */ refusing('fileStore')
export const redisStore: (given?: unknown) => never = /* @__PURE__ */ refusing('redisStore')
export const postgresStore: (given?: unknown) => never = /* @__PURE__ */ refusing('postgresStore')
export const mysqlStore: (given?: unknown) => never = /* @__PURE__ */ refusing('mysqlStore')
export const etcdStore: (given?: unknown) => never = /* @__PURE__ */ refusing('etcdStore')
export const quorumStore: (given?: unknown) => never = /* @__PURE__ */ refusing('quorumStore')
export const recordStore: (given?: unknown) => never = /* @__PURE__ */ refusing('recordStore')
export const openStore: (given?: unknown) => never = /* @__PURE__ */ refusing('openStore')
