// `flakeforge`: generates and reads IDs. All of it is loaded at once, so it has only light parts; leases and stores are in
// lease.ts. `require('flakeforge')` is the class alone, so the class has all other exports as properties.

import type { AnyLayout } from '../codec/node-fields.ts'
import type { LeasedFlakeId as Leased } from '../lease/leased-flake-id.ts'
import * as all from './index.ts'

export type { IterationOptions, SignalOptions } from '../base/abort.ts'
export type { CounterInfo } from '../base/counter-info.ts'
export type { FlakeErrorClass, FlakeErrorCode } from '../base/errors/flake-error.ts'
export { FlakeError } from '../base/errors/flake-error.ts'
export type { SlotInfo } from '../base/slot-info.ts'
export type { NextCallback } from '../calls/source.ts'
export type { Base } from '../codec/bases.ts'
export type { Id, IdSource, IdType, IdTypeOptions, StandardProps, TextSchema, TextSeal } from '../codec/id-type.ts'
export { idType } from '../codec/id-type.ts'
export type { IdBytes, IdLike } from '../codec/ids.ts'
export { compare, fromSigned, toBigInt, toSigned } from '../codec/ids.ts'
export { jsonReplacer, jsonReviver } from '../codec/json.ts'
export type { Decode } from '../codec/layout.ts'
export { Layout, layouts } from '../codec/layout.ts'
export type { AnyLayout, LayoutName, LayoutOptions, NodeFields, Unspecified } from '../codec/node-fields.ts'
export type { CommonParts, CommonPartsToEncode, Parts, PartsToEncode } from '../codec/parts.ts'
export type { PrefixOptions } from '../codec/prefix.ts'
export type { LayoutSettings, LayoutSpec } from '../codec/spec.ts'
export type { Format, FormatOptions } from '../codec/text.ts'
export { isId, parse } from '../codec/text.ts'
export type { Stats } from '../generator/flake-id.ts'
export type { FlakeIdOptions, GeneratorOptions, OwnNodeOptions } from '../generator/options.ts'
export { format } from '../layout/format.ts'
export type { SealOptions } from '../layout/seal.ts'
export { Seal } from '../layout/seal.ts'
// The types of FlakeId.join()'s arguments and results.
export type { ElseFrom } from '../lease/else-from/options.ts'
export type { LeaseDetail, LeaseEvent, LeaseListener } from '../lease/events.ts'
export type { JoinOptions, LeaseOptions } from '../lease/join-options.ts'
export type { LeasedStats } from '../lease/leased-flake-id.ts'
export type { Store } from '../stores/store.ts'
export { createGroup, FlakeId, FlakeId as default } from './main.ts'

/** The result of `FlakeId.join()`. The class itself is in flakeforge/lease. */
export type LeasedFlakeId<L extends AnyLayout = any> = Leased<L>

Object.assign(all.FlakeId, all)
