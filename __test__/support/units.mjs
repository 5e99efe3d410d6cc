// Which times flakeforge refuses because they look like another unit: tests with arbitrary times leave these out.

const units = { number: [1e3, 1e-3, 1e-6], bigint: [1, 1e3, 1e-3] }

/**
 * Whether a number looks like seconds, µs, ns, a year or a date instead of Unix ms, or a bigint like ms, seconds or µs
 * instead of Unix ns.
 */
export function isOfOtherUnit(time) {
  const isTime = (ms) => ms >= 1e11 && ms < 4.2e12
  if (isTime(typeof time === 'bigint' ? Number(time) / 1e6 : time)) return false
  return (
    units[typeof time].some((inMs) => isTime(Number(time) * inMs)) || /^[12]\d{3}(\d\d)?(\d\d)?$/.test(String(time))
  )
}
