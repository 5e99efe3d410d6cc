// A CommonJS consumer of `flakeforge/codec`. It is compiled, and what comes out is run.

import assert = require('node:assert')
import codec = require('flakeforge/codec')

const parts: codec.Parts<'discord'> = codec.layouts.discord.decode(175928847299117063n)
const process: number = parts.process
assert.equal(process, 0)
assert.equal(codec.compare(codec.layouts.discord.encode(parts), 175928847299117063n), 0)
const { min, max }: { min: Uint8Array; max: Uint8Array } = codec.layouts.discord.range(parts.timestamp)
assert.ok(codec.toBigInt(min) < codec.toBigInt(max))

console.log('codec.cts is right')
