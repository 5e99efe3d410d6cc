// Reads decimal digits as the two halves of 64 bits. BigInt(text), with a regular expression before it, takes three times as
// long, and a table has millions of such texts.

/** The halves of the last number that was read. */
export const halves = { high: 0, low: 0 }

const DIGITS_AT_ONCE = 6 // 2^32 times 10^6 is exact as a number
const MOST_DIGITS = 19 // all of them are below 2^64
const ZERO = 48
const HALF = 2 ** 32

/** Whether the text is decimal, with 1 to 19 digits; then `halves` has the number. */
export function readDecimal(text: string) {
  const { length } = text
  if (length === 0 || length > MOST_DIGITS) return false
  let high = 0
  let low = 0
  for (let at = 0; at < length; ) {
    const end = Math.min(at + DIGITS_AT_ONCE, length)
    let part = 0
    let size = 1
    for (; at < end; at++) {
      const digit = text.charCodeAt(at) - ZERO
      if (digit < 0 || digit > 9) return false
      part = part * 10 + digit
      size *= 10
    }
    const sum = low * size + part
    const carry = Math.floor(sum / HALF)
    low = sum - carry * HALF
    high = high * size + carry
  }
  halves.high = high
  halves.low = low
  return true
}
