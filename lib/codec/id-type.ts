// Kinds of IDs: for each kind one object, which writes its IDs as text with a prefix, reads them again, and gives them a type of
// their own, so that the compiler refuses an order's ID where a user's is wanted. Browsers load it too.

import * as errors from '../base/errors/values.ts'
import * as wanted from '../base/errors/wanted.ts'
import { checkKeys, isAbsent } from '../base/values.ts'
import { type Base, knownBase, read, spell } from './bases.ts'
import type { LayoutFacts } from './facts.ts'
import { type IdLike, toBigInt } from './ids.ts'
import { factsOf, type Layout } from './layout.ts'
import type { AnyLayout } from './node-fields.ts'
import { PREFIX } from './prefix.ts'

/**
 * The text of an ID of one kind, such as `'ord_6GZJ8H64N4W00'`. It is a string, but no other string is assignable to it, nor
 * is the ID of another kind. The property exists only in the type, not at run time.
 */
export type Id<Name extends string = string> = string & { readonly '~kind': Name }

/** Any generator of flakeforge in this process. */
export interface IdSource {
  nextBigInt(): bigint
}

/** The part of a `Seal` that an ID type uses. */
export interface TextSeal {
  sealString(id: bigint, base?: 'base58' | 'base62' | null): string
  openString(text: string, base?: 'base58' | 'base62' | null): Uint8Array
}

export interface IdTypeOptions<L extends AnyLayout = AnyLayout> {
  /** the beginning of the texts, as for `format`: default the name and `_`; `''` for none */
  prefix?: string | null | undefined
  /** The name of a layout, a `Layout`, or the definition of your own: an ID that this layout cannot contain is rejected. */
  layout?: L | Layout<L> | null | undefined
  /** how the ID is written after the prefix; default `'base32'`. With a seal, `'base58'` (the default) or `'base62'` */
  base?: Base | null | undefined
  /** a `Seal` with the same prefix: the texts are those of its `sealString`, and reveal nothing without the key */
  seal?: TextSeal | null | undefined
}

/** The JSON Schema of a text, for every draft of JSON Schema and for OpenAPI. */
export interface TextSchema {
  type: 'string'
  pattern: string
}

/** The interface that other libraries call, as defined by [Standard Schema](https://standardschema.dev). */
export interface StandardProps<Output> {
  readonly version: 1
  readonly vendor: string
  readonly validate: (
    value: unknown,
  ) =>
    | { readonly value: Output; readonly issues?: undefined }
    | { readonly issues: ReadonlyArray<{ readonly message: string }> }
  readonly jsonSchema: {
    readonly input: (options?: unknown) => Record<string, unknown>
    readonly output: (options?: unknown) => Record<string, unknown>
  }
  readonly types?: { readonly input: string; readonly output: Output } | undefined
}

/** A kind of ID. Its functions do not use `this`, so `ids.filter(Order.is)` works. */
export interface IdType<Name extends string = string> {
  readonly name: Name

  /**
   * The next ID of a generator, as text.
   * @throws {TypeError} `ERR_FLAKE_OPTION`: it is no generator. Or as its `nextBigInt()`
   */
  readonly next: (generator: IdSource) => Id<Name>

  /**
   * The text of an ID that is given in any other form, such as a bigint from a database.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not an ID of the layout.
   */
  readonly from: (id: IdLike) => Id<Name>

  /**
   * Checks text from outside and returns it. If the base ignores case, the result has the case that `from` writes.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not text, has another prefix, is not written in the base, has more than 64 bits,
   * is not an ID of the layout, or is rejected by the seal.
   */
  readonly parse: (text: unknown) => Id<Name>

  /** Whether a value is text exactly as `from` writes it. It never throws. */
  readonly is: (value: unknown) => value is Id<Name>

  /**
   * The ID that a text contains, for a database.
   * @throws {TypeError} `ERR_FLAKE_ID`, as `parse`
   */
  readonly toBigInt: (text: string) => bigint

  /**
   * The form of the texts: `{ type: 'string', pattern }`. A pattern cannot express that a number has at most 64 bits, or that
   * check characters are correct: `parse` checks these as well.
   */
  readonly jsonSchema: TextSchema

  /**
   * [Standard Schema](https://standardschema.dev): tRPC, Hono, TanStack and others accept the object itself as a validator.
   */
  readonly '~standard': StandardProps<Id<Name>>
}

const NAME = /^[a-z](?:[a-z\d_]{0,13}[a-z\d])?$/
const NAMES = "1 to 15 of a–z, 0–9 and _, from a letter to a letter or digit, such as 'ord'"
const SEALS = 'a Seal, an object with sealString() and openString()'

/** The texts of IDs in each base, as `format` writes them. */
const PATTERNS: Record<Base, string> = {
  dec: '(?:0|[1-9][0-9]{0,19})',
  hex: '(?:0|[1-9a-f][0-9a-f]{0,15})',
  bin: '[01]{64}',
  oct: '(?:0|[1-7][0-7]{0,21})',
  base32: '[0-9A-F][0-9A-HJKMNP-TV-Z]{12}',
  base36: '[0-9a-z]{13}',
  base58: '[1-9A-HJ-NP-Za-km-z]{11}',
  base62: '[0-9A-Za-z]{11}',
  tid: '[2-7a-z]{13}',
}

/** How IDs become texts, with the prefix, and how texts become IDs. */
interface Texts {
  write: (id: bigint) => string
  read: (text: string) => bigint
  pattern: string
}

function plainTexts(prefix: string, base: Base): Texts {
  return {
    write: (id) => prefix + spell(id, 8, base),
    read: (text) => {
      const id = read(text, base, prefix)
      if (id === undefined) throw errors.idError(text, wanted.idInBase(base, prefix, text))
      return id
    },
    pattern: PATTERNS[base],
  }
}

/** Without the value, which could be a key. */
const notSeal = (Type: typeof TypeError | typeof RangeError, must: string) =>
  errors.optionError(Type, 'seal', undefined, `seal must be ${must}`)

function sealedTexts(prefix: string, given: unknown, base: 'base58' | 'base62'): Texts {
  const seal = given as TextSeal
  if (typeof seal !== 'object' || typeof seal.sealString !== 'function' || typeof seal.openString !== 'function')
    throw notSeal(TypeError, `${SEALS}, but is of type ${typeof given}`)
  const sample = `${seal.sealString(0n, base)}` // its form is that of all texts
  const own = sample.slice(0, sample.lastIndexOf('_') + 1)
  if (own !== prefix) throw notSeal(RangeError, `one with the prefix '${prefix}', not '${own}'`)
  return {
    write: (id) => seal.sealString(id, base),
    read: (text) => toBigInt(seal.openString(text, base)),
    pattern: PATTERNS[base].replace('{11}', `{${sample.length - own.length}}`),
  }
}

function textsOf(prefix: string, { base, seal }: { base?: unknown; seal?: unknown }): Texts {
  if (isAbsent(seal)) return plainTexts(prefix, isAbsent(base) ? 'base32' : (knownBase(base) as Base))
  const chosen = isAbsent(base) ? 'base58' : base
  if (chosen !== 'base58' && chosen !== 'base62')
    throw errors.optionRangeError('base', base, "'base58' or 'base62', because of seal")
  return sealedTexts(prefix, seal, chosen)
}

function readPrefix(prefix: unknown, name: string) {
  if (isAbsent(prefix)) return `${name}_`
  if (prefix === '' || (typeof prefix === 'string' && PREFIX.test(prefix))) return prefix
  throw errors.optionRangeError('prefix', prefix, `'' or ${wanted.PREFIX}`)
}

const isIdError = (error: unknown): error is Error => (error as { code?: unknown } | undefined)?.code === 'ERR_FLAKE_ID'

/**
 * Creates a kind of ID: one object that generates, writes, reads and validates such IDs, which have their own type.
 *
 * @param name of the kind, and the beginning of its texts: 1 to 15 of a–z, 0–9 and _, from a letter to a letter or digit
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the name or an option is invalid, or the seal has another prefix.
 * @example
 * const Order = idType('ord')
 * type OrderId = Id<'ord'>
 * const id: OrderId = Order.next(flake)  // 'ord_6GZJ8H64N4W00'
 * Order.toBigInt(id)                     // 7529535382561648640n
 * Order.is('usr_6GZJ8H64N4W00')          // false
 */
export function idType<const Name extends string, const L extends AnyLayout = AnyLayout>(
  name: Name,
  options?: IdTypeOptions<L> | null,
): IdType<Name> {
  if (typeof name !== 'string') throw errors.optionTypeError('name', name, NAMES)
  if (!NAME.test(name)) throw errors.optionRangeError('name', name, NAMES)
  const chosen = checkKeys('options', options, ['prefix', 'layout', 'base', 'seal'])
  const facts: LayoutFacts | undefined = isAbsent(chosen.layout) ? undefined : factsOf(chosen.layout)
  const prefix = readPrefix(chosen.prefix, name)
  const { write, read, pattern } = textsOf(prefix, chosen)

  /** @param given in which the ID was given: for an error */
  const ofLayout = (id: bigint, given: unknown) => {
    toBigInt(id) // which puts it where unpack() expects it
    if (facts && !facts.packing.unpack()) throw errors.idError(given, wanted.idOfLayout(facts.name))
    return id
  }
  const readText = (text: unknown) => {
    if (typeof text !== 'string') throw errors.idError(text, wanted.typedText(prefix))
    return ofLayout(read(text), text)
  }
  const from = (id: IdLike) => write(ofLayout(toBigInt(id), id)) as Id<Name>
  const parse = (text: unknown) => write(readText(text)) as Id<Name>
  const validate = (value: unknown) => {
    try {
      return { value: parse(value) }
    } catch (error) {
      if (!isIdError(error)) throw error
      return { issues: [{ message: error.message }] }
    }
  }
  const is = (value: unknown): value is Id<Name> => typeof value === 'string' && validate(value).value === value
  const schema = (): TextSchema => ({ type: 'string', pattern: `^${prefix}${pattern}$` })
  const jsonSchema = { input: () => ({ ...schema() }), output: () => ({ ...schema() }) }

  return Object.freeze({
    name,
    next: (generator: IdSource) => {
      if (typeof generator?.nextBigInt !== 'function')
        throw errors.optionTypeError('generator', generator, 'an object with nextBigInt()')
      return from(generator.nextBigInt())
    },
    from,
    parse,
    is,
    toBigInt: readText,
    jsonSchema: schema(),
    '~standard': { version: 1 as const, vendor: 'flakeforge', validate, jsonSchema },
  })
}
