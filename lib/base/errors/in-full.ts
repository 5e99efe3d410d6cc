// What a value must be, in full: the codec says it in a few words, because browsers download them, and Node says here what
// else helps. Browsers never load this file.

function whyNot(number: number) {
  if (Number.isNaN(number)) return 'it is not even a number'
  if (number < 0) return 'IDs are not negative; fromSigned() takes what a signed column has'
  if (number > Number.MAX_SAFE_INTEGER)
    return 'a number above 2^53 − 1 (9007199254740991) may have lost digits already; read the ID as a bigint or as text'
  return 'it has a fraction'
}

/** The smallest and the largest ID in the bases whose texts all have the same width. */
const FORMS: Record<string, string> = {
  base36: "13 characters, from '0000000000000' to '3w5e11264sgsf'",
  base58: "11 characters, from '11111111111' to 'jpXCZedGfVQ'",
  base62: "11 characters, from '00000000000' to 'LygHa16AHYF'",
}

/**
 * @param name of the layout
 * @param own the last 58 bits that its UUIDs have
 */
function whyNotOurs(name: string, bits: bigint, own: bigint) {
  const variant = (bits >> 62n) & 3n
  const version = (bits >> 76n) & 15n
  if (variant !== 2n) return `a UUID of RFC 9562: its variant bits are ${variant.toString(2).padStart(2, '0')}, not 10`
  if (version !== 8n) return `a UUID that toUuid() made: its version is ${version}, not 8`
  return (
    `a UUID of layout '${name}': its last 58 bits are 0x${BigInt.asUintN(58, bits).toString(16)}, and those of this layout ` +
    `0x${own.toString(16)}. Another program made it, or a layout with another epoch, tick, timestamp or idOffset. Read ` +
    'it with the layout that it was made with'
  )
}

const OFFSET = 'a bit that must be 0 is set, or idOffset differs'
const NANOSECONDS = "a time with nine digits of seconds, as '2021-12-28T14:07:02.954100128'"
const PAIR = "[name, bits] such as ['timestamp', 41]"

/** By the few words; `$` in these stands for the first argument. */
const IN_FULL: Record<string, (...args: any[]) => string> = {
  'an ID from 0 to 2^64 − 1': () =>
    "an ID: 8 bytes, a bigint from 0 to 2^64 − 1, text ('123', '0x7b', '0b1111011'), or a number from 0 to 2^53 − 1",
  'an ID: 8 bytes': (bytes) => `an ID: it has ${bytes} bytes, an ID has 8`,
  'an ID from 0 to 2^53 − 1': (number) => `an ID: ${whyNot(number)}`,
  'a signed bigint of 64 bits': () => 'a signed 64-bit value: a bigint from −2^63 to 2^63 − 1',
  'an ID in $: 64 bits at most': (base) => `an ID in ${base}: ${FORMS[base] ?? 'digits only, 64 bits at most'}`,
  'of $ bytes at most': (most, bytes) =>
    `short enough: it has ${bytes} bytes, and a text may be of ${most} bytes at most`,
  'an array of bytes': (i) => `an array of bytes: element ${i} must be an integer from 0 to 255`,
  "an ID of layout '$': a bit that must be 0 is set": (name) => `an ID of layout '${name}': ${OFFSET}`,
  "a UUID of an ID of layout '$'": (name, id) => `a UUID of an ID of layout '${name}': in ${id}, ${OFFSET}`,
  'a UUID': () => "a UUID in the form '687e4889-8912-8700-858f-670cd8eec840': digits of hex and four dashes, no braces",
  "a UUID of layout '$'": whyNotOurs,
  'a time with nine digits': () => NANOSECONDS,
  'a time in units of $ ns': (unit) => `${NANOSECONDS}, not before the epoch, in units of ${unit} ns, in 64 bits`,
  'on a day that exists': () => `${NANOSECONDS}, on a day that exists`,
  "'chronicle' or 'chronicle-micros'": (call) => `'chronicle' or 'chronicle-micros' for ${call}()`,
  'a pair [name, bits]': () => `a pair ${PAIR}`,
  'an array of [name, bits]': () => `an array of pairs ${PAIR}`,
  'early enough for a tick to end before $': (ms) => `early enough for a tick to end before the last Date, ${ms}`,
  'have another name': (name) => `have another name, because '${name}' is taken`,
  'have 1 to 63 bits': (name, bits) => `have 1 to 63 bits, but '${name}' has ${bits}`,
  'have at most $ bits': (most, bits) => `have at most ${most} bits, because it is the counter, but has ${bits}`,
  'have a name': () => "have a name, but its name is ''",
  'have a name of its own': (name) => `have a name of its own, but '${name}' is taken`,
  'have 64 bits in all': (bits) => `have 64 bits in all, but have ${bits}`,
  'have at most $ bits of node number': (most, bits) => `have at most ${most} bits of node number, but have ${bits}`,
  "with layout '$'": (name, option) => `with layout '${name}': ${ONLY[option]}`,
}

const ONLY: Record<string, string> = {
  nodes: "only 'snowcast' has it",
  mode: "only 'uniqueid' has modes",
  idOffset: 'its IDs are not in the order of time',
}

export const inFull = (wanted: string, args: unknown[]) => IN_FULL[wanted]?.(...args) ?? wanted
