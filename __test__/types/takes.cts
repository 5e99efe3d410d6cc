// A library for CommonJS, whose functions take objects of flakeforge: for both.mts. Compiled, not run.

import codec = require('flakeforge/codec')
import FlakeId = require('flakeforge')
import lease = require('flakeforge/lease')

export const takes = (flake: FlakeId, layout: FlakeId.Layout): unknown[] => [flake.next(), layout.name]
export const layout: FlakeId.Layout = codec.layouts.flake
export const joined = (): Promise<lease.LeasedFlakeId> => FlakeId.join()
