// The types of require('flakeforge'), which is the class, with every other export as a property of it. So this file says
// `export =`, and merges the class with a namespace. It declares nothing: all of it comes from lib/entries/index.ts.

import * as all from './dist/index.cjs'

/**
 * Makes 64-bit IDs that are unique and ordered by time, without coordination: {@link all.FlakeId}.
 *
 * @example
 * const FlakeId = require('flakeforge')
 * const flake = new FlakeId({ datacenter: 9, worker: 7 })
 * flake.next()       // <Buffer 68 7e 48 89 89 12 70 00>
 * flake.nextString() // '7529535382561648640'
 */
declare class FlakeId<const L extends all.AnyLayout = any> extends all.FlakeId<L> {}

declare namespace FlakeId {
  export import AnyLayout = all.AnyLayout
  export import Base = all.Base
  export import CommonParts = all.CommonParts
  export import CommonPartsToEncode = all.CommonPartsToEncode
  export import compare = all.compare
  export import createGroup = all.createGroup
  export import Decode = all.Decode
  export import ElseFrom = all.ElseFrom
  export { FlakeId, FlakeId as default }
  export import FlakeError = all.FlakeError
  export import FlakeErrorClass = all.FlakeErrorClass
  export import FlakeErrorCode = all.FlakeErrorCode
  export import FlakeIdOptions = all.FlakeIdOptions
  export import Format = all.Format
  export import FormatOptions = all.FormatOptions
  export import format = all.format
  export import fromSigned = all.fromSigned
  export import GeneratorOptions = all.GeneratorOptions
  export import IdBytes = all.IdBytes
  export import IdLike = all.IdLike
  export import isId = all.isId
  export import IterationOptions = all.IterationOptions
  export import JoinOptions = all.JoinOptions
  export import jsonReplacer = all.jsonReplacer
  export import jsonReviver = all.jsonReviver
  export import Layout = all.Layout
  export import LayoutName = all.LayoutName
  export import LayoutOptions = all.LayoutOptions
  export import LayoutSettings = all.LayoutSettings
  export import LayoutSpec = all.LayoutSpec
  export import LeaseDetail = all.LeaseDetail
  export type LeasedFlakeId<L extends AnyLayout = any> = all.LeasedFlakeId<L>
  export import LeasedStats = all.LeasedStats
  export import LeaseEvent = all.LeaseEvent
  export import LeaseListener = all.LeaseListener
  export import LeaseOptions = all.LeaseOptions
  export import layouts = all.layouts
  export import NodeFields = all.NodeFields
  export import OwnNodeOptions = all.OwnNodeOptions
  export import Parts = all.Parts
  export import PartsToEncode = all.PartsToEncode
  export import parse = all.parse
  export import PrefixOptions = all.PrefixOptions
  export import Seal = all.Seal
  export import SealOptions = all.SealOptions
  export import SignalOptions = all.SignalOptions
  export import Stats = all.Stats
  export import Store = all.Store
  export import toBigInt = all.toBigInt
  export import toSigned = all.toSigned
}

export = FlakeId
