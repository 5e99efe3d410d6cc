'use strict'

// Makes a PNG of a screen small: 256 colours, which is all that text on a plain page needs, and the best compression that zlib
// has. It must only be given what Chromium writes: 8 bits a channel, not interlaced.

const { deflateSync, inflateSync } = require('node:zlib')

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const MOST = 256
const CHANNELS = { 2: 3, 6: 4 } // by the type of colour: RGB, RGBA

const crcOf = (byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1
  return crc >>> 0
}
const CRCS = Array.from({ length: 256 }, (_, byte) => crcOf(byte))

function crc32(bytes) {
  let crc = 0xffffffff
  for (const byte of bytes) crc = CRCS[(crc ^ byte) & 0xff] ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  crc.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, crc])
}

/** The chunks of a PNG, by type; those of one type are joined. */
function chunksOf(png) {
  const chunks = {}
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    chunks[type] = Buffer.concat([chunks[type] ?? Buffer.alloc(0), png.subarray(at + 8, at + 8 + length)])
    at += length + 12
  }
  return chunks
}

/** What a filter of the PNG specification predicts from the bytes to the left, above, and both. */
const PREDICTED = [
  () => 0,
  (left) => left,
  (_, above) => above,
  (left, above) => (left + above) >> 1,
  (left, above, corner) => {
    const [a, b, c] = [left, above, corner].map((each) => Math.abs(left + above - corner - each))
    if (a <= b && a <= c) return left
    return b <= c ? above : corner
  },
]

/** The pixels, as rows of bytes. */
function rowsOf(data, width, height, channels) {
  const size = width * channels
  const rows = []
  for (let y = 0; y < height; y++) {
    const predicted = PREDICTED[data[y * (size + 1)]]
    const row = Buffer.from(data.subarray(y * (size + 1) + 1, (y + 1) * (size + 1)))
    const above = rows[y - 1] ?? Buffer.alloc(size)
    for (let x = 0; x < size; x++) row[x] += predicted(row[x - channels] ?? 0, above[x], above[x - channels] ?? 0)
    rows.push(row)
  }
  return rows
}

const distance = (a, b) =>
  [16, 8, 0].reduce((sum, shift) => sum + (((a >> shift) & 255) - ((b >> shift) & 255)) ** 2, 0)

/** The most frequent colours, and for every colour the nearest of them. */
function paletteOf(colours) {
  const counts = new Map()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const frequent = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST)
  const palette = frequent.map(([colour]) => colour)
  const nearest = (colour) =>
    palette.reduce((best, each, i) => (distance(each, colour) < distance(palette[best], colour) ? i : best), 0)
  return { palette, indexOf: new Map([...counts.keys()].map((colour) => [colour, nearest(colour)])) }
}

/** The same picture with 256 colours. */
function shrink(png) {
  const { IHDR, IDAT } = chunksOf(png)
  const [width, height, channels] = [IHDR.readUInt32BE(0), IHDR.readUInt32BE(4), CHANNELS[IHDR[9]]]
  const rows = rowsOf(inflateSync(IDAT), width, height, channels)
  const colours = rows.map((row) => Uint32Array.from({ length: width }, (_, x) => row.readUIntBE(x * channels, 3)))
  const { palette, indexOf } = paletteOf(colours.flatMap((row) => [...row]))
  const lines = colours.map((row) => Buffer.from([0, ...row.map((colour) => indexOf.get(colour))]))
  const header = Buffer.from(IHDR)
  header[9] = 3 // a palette
  const colourBytes = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  const data = deflateSync(Buffer.concat(lines), { level: 9 })
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', colourBytes),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]
  return Buffer.concat([SIGNATURE, ...chunks])
}

module.exports = { shrink }
