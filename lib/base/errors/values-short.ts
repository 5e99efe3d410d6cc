// What browsers load in the place of errors/values.ts: scripts/dist.js puts it there. The same errors with the same codes and
// properties. Their messages name the value and what it must be, without further help. Node must never load it. A `$` in
// `wanted` stands for the argument after it.

const show = (value: unknown) =>
  typeof value === 'string' ? `'${value.slice(0, 60)}'` : value instanceof Object ? 'an object' : String(value)

const errorOf = (Type: ErrorConstructor, code: string, message: string, fields: object) =>
  Object.assign(new Type(message), { code: `ERR_FLAKE_${code}`, ...fields })

export const optionError = (Type: ErrorConstructor, option: string, value: unknown, message: string) =>
  errorOf(Type, 'OPTION', message, { option, value })

const refusal =
  (Type: ErrorConstructor, verb: string) => (option: string, value: unknown, wanted: string, arg?: unknown) =>
    optionError(Type, option, value, `${option} ${verb} ${wanted.replace('$', String(arg))}, but is ${show(value)}`)

export const unknownOptionError = (option: string, value: unknown, known: readonly string[]) =>
  optionError(TypeError, option, value, `Unknown option '${option}': not ${known}`)

export const idError = (value: unknown, wanted: string, arg?: unknown) =>
  errorOf(TypeError, 'ID', `${show(value)} is not ${wanted.replace('$', String(arg))}`, { value })

export const timeRangeError = (timestamp: number, { name, epoch, end }: { name: string; epoch: number; end: Date }) =>
  errorOf(RangeError, 'TIME_RANGE', `The time ${timestamp} is not from ${epoch} to ${+end} (layout '${name}')`, {
    timestamp,
  })

export const optionTypeError = refusal(TypeError, 'must be')
export const optionRangeError = refusal(RangeError, 'must be')

export const unknownLayoutError = (name: string, known: readonly string[]) =>
  optionRangeError('layout', name, `one of ${known}`)

export const fieldsError = refusal(RangeError, 'must')
export const unusableOptionError = refusal(TypeError, 'cannot be used')
