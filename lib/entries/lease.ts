// `flakeforge/lease`: leases of slots, and their stores. FlakeId.join() loads it at its first call.

export type { CounterInfo } from '../base/counter-info.ts'
export type { FlakeErrorClass, FlakeErrorCode } from '../base/errors/flake-error.ts'
export { FlakeError } from '../base/errors/flake-error.ts'
export type { SlotInfo } from '../base/slot-info.ts'
export type { PrefixOptions } from '../codec/prefix.ts'
export { changeStores } from '../lease/change-stores.ts'
export type { ElseFrom } from '../lease/else-from/options.ts'
export type { LeaseDetail, LeaseEvent, LeaseListener } from '../lease/events.ts'
export type { JoinOptions, LeaseOptions } from '../lease/join-options.ts'
export type { LeasedStats } from '../lease/leased-flake-id.ts'
export { LeasedFlakeId } from '../lease/leased-flake-id.ts'
export { restored } from '../lease/restored.ts'
export type { SegmentStats } from '../lease/segment/segment-id.ts'
export { SegmentId } from '../lease/segment/segment-id.ts'
export type { FolderStore } from '../stores/file-store.ts'
export type { MysqlOptions } from '../stores/mysql.ts'
export {
  etcdStore,
  fileStore,
  mysqlStore,
  openStore,
  postgresStore,
  type QuorumOptions,
  quorumStore,
  recordStore,
  redisStore,
} from '../stores/open.ts'
export type { PostgresOptions } from '../stores/postgres.ts'
export type { RecordStore, StoreIdentity } from '../stores/records.ts'
export type { Store } from '../stores/store.ts'
