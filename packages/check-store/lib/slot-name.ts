// The names of records that stand for slots, as flakeforge gives them: `slot` and ten digits.

export const slotName = (n: number) => `slot${String(n).padStart(10, '0')}`
