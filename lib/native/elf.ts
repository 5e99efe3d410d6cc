// ELF, the form of Linux' programs and libraries, as far as the addon's loader asks. Both questions are about the segments,
// which the header of a file lists.

const { closeSync, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs')

const MAGIC = 0x7f454c46
const INTERPRETER = 3 // PT_INTERP
const LOADED = 1 // PT_LOAD

/** What the loader needs of a segment: its kind, and its place in the file. */
interface Segment {
  type: number
  start: number
  length: number
}

/** The segments of a file with this beginning; none if it is not little-endian ELF. */
function segmentsOf(head: Buffer): Segment[] {
  if (head.readUInt32BE(0) !== MAGIC || head[5] !== 1) return []
  const isWide = head[4] === 2
  const word = (at: number) => (isWide ? Number(head.readBigUInt64LE(at)) : head.readUInt32LE(at))
  const first = word(isWide ? 32 : 28)
  const [size, count] = [head.readUInt16LE(isWide ? 54 : 42), head.readUInt16LE(isWide ? 56 : 44)]
  return Array.from({ length: count }, (_, i) => {
    const at = first + i * size
    return { type: head.readUInt32LE(at), start: word(at + (isWide ? 8 : 4)), length: word(at + (isWide ? 32 : 16)) }
  })
}

/** Asks about a file; undefined if it cannot be read, or its header makes no sense. */
function ask<T>(path: string, question: (file: number, segments: Segment[]) => T) {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const head = Buffer.alloc(4096)
    readSync(file, head, 0, head.length, 0)
    return question(file, segmentsOf(head))
  } catch {
    return undefined // Node's or Deno's permissions may refuse the read
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Whether a program uses musl: it names the loader of its C library. In most programs the name is near the beginning. A tool
 * that changes it, such as patchelf, moves it to the end.
 */
export function usesMusl(program: string) {
  const loader = ask(program, (file, segments) => {
    const name = Buffer.alloc(64)
    readSync(file, name, 0, name.length, segments.find(({ type }) => type === INTERPRETER)?.start ?? 0)
    return name.toString('latin1')
  })
  return loader?.startsWith('/lib/ld-musl-') ?? false
}

/**
 * Whether a library has lost its end, as in an interrupted copy or on a full disk. The system's loader would map it, and the
 * process would die of SIGBUS without a message.
 */
export function isCutOff(library: string) {
  return ask(library, (file, segments) => {
    const { size } = fstatSync(file)
    return segments.some(({ type, start, length }) => type === LOADED && start + length > size)
  })
}
