// The names of slot records in flakeforge: `slot` and ten digits.

export const slotName = (n: number) => `slot${String(n).padStart(10, '0')}`
