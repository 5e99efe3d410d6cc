// Splits a file or a pipe into lines and keeps only a chunk of them in memory. Text is UTF-8, or UTF-16 with a byte order
// mark, which PowerShell's `>` writes.

import { createReadStream } from 'node:fs'
import { unreadable } from './unreadable.ts'

const CHUNK = 1 << 20 // bytes of a file at a time; pipes deliver less
export const LONGEST = 1 << 20 // characters in one line

/** The bytes of a file; of stdin without a name. */
export const open = (file?: string): AsyncIterable<Uint8Array> =>
  file === undefined ? process.stdin : createReadStream(file, { highWaterMark: CHUNK })

function encodingOf([first, second]: Uint8Array) {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** The lines in chunks, without the byte order mark; their ends may still have a `\r`. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  let decoder: InstanceType<typeof TextDecoder> | undefined
  let rest = ''
  let before = 0
  for await (const chunk of bytes) {
    decoder ??= new TextDecoder(encodingOf(chunk))
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    before += lines.length
    if (rest.length > LONGEST)
      throw unreadable(`line ${before + 1} is longer than ${LONGEST} characters, so this is not a list of IDs.`)
    yield lines
  }
  rest += decoder?.decode() ?? ''
  if (rest !== '') yield [rest]
}
