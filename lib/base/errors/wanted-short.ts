// Replaces errors/wanted.ts in browsers (scripts/dist.js). Its texts are short, because pages download them.

export const id = () => 'an ID from 0 to 2^64 − 1'
export const SIGNED = 'signed, of 64 bits'
export const bytesOfId = () => 'an ID: 8 bytes'
export const exactNumber = () => 'an ID from 0 to 2^53 − 1'
export const PREFIX = 'a-z, 0-9 and a final _'
export const prefixIn = () => PREFIX
export const idInBase = (base: string, prefix: string) =>
  `an ID in ${base}: ${prefix && `'${prefix}' and `}64 bits at most`
export const typedText = (prefix: string) => `text with '${prefix}'`
export const fewBytes = (most: number) => `of ${most} bytes at most`
export const SOME_BYTES = 'a number'
export const fewCharacters = () => 'smaller'
export const arrayOfBytes = () => 'an array of bytes'

export const idOfLayout = (name: string) => `an ID of layout '${name}': a bit that must be 0 is set`
export const UUID = 'a UUID'
export const uuidOfLayout = (name: string) => `a UUID of layout '${name}'`
export const uuidOfId = uuidOfLayout

export const withinDate = () => 'a valid Date'
export const A_TIME = 'Unix ms or a Date'
export const FINITE_TIME = 'a valid Date'
export const FITTING_IDS = 'smaller'
export const WHOLE_NS = 'whole nanoseconds'

export const inOrder = () => 'be ordered by time'
export const ownMode = (own: string) => `'${own}'`
export const LAYOUT = 'a layout'
export const SHOWN_TIME = 'a time of a Date'
export const asInId = () => 'that of id'
export const inTick = (_: unknown, source: string) => `be in that of ${source}`
export const laterThan = () => 'from or later'

export const NINE_DIGITS = 'a time with nine digits'
export const timeInUnits = (unit: bigint) => `a time that is a multiple of ${unit} ns`
export const EXISTING_DAY = 'on a day that exists'
export const chronicle = () => "'chronicle' or 'chronicle-micros'"

export const PAIR = 'a pair [name, bits]'
export const PAIRS = 'an array of [name, bits]'
export const earlyEpoch = (ms: number) => `earlier, to end before ${ms}`

export const otherName = () => 'have another name'
export const ownName = otherName
export const A_NAME = 'have a name'
export const oneWord = () => 'have 1 to 63 bits'
export const counterBits = (most: number) => `have at most ${most} bits`
export const nodeBits = (most: number) => `have at most ${most} bits of node number`
export const allBits = () => 'have 64 bits in all'
export const counterName = () => "be called 'counter'"

export const withLayout = (name: string) => `with layout '${name}'`

type Full = typeof import('./wanted.ts')
type Check<Short extends { [Name in keyof Full]: Full[Name] extends string ? string : Full[Name] }> = Short
/** Checks that each name of wanted.ts is here and has the same type. */
export type Checked = Check<typeof import('./wanted-short.ts')>
