// What others said (a server, a client package, a record that another program wrote) and whatever may hold a secret. It
// reaches a message, a cause or a warning only through here: on one line, without control characters, without secrets, and
// of bounded length. Uses no module of Node: browsers load this file too.

import { printable, withoutSecretsIn } from '../printable.ts'
import { isBranded } from './brand.ts'
import type { WarningCode } from './codes.ts'

/** The longest text of others in a message. */
const LONGEST = 300
/** How much of a text is read for that: an answer may have megabytes, and the event loop waits meanwhile. */
const MOST_READ = 16_384

/** The passwords and tokens that were given to us, and their forms in URLs and JSON. The oldest are forgotten. */
const secrets: Set<string> = new Set()
const MOST_SECRETS = 1_000
let known: RegExp | undefined

/** A text in another form; unchanged if it has none, such as a % that encodes nothing, or half a character. */
const formOf = (change: (text: string) => string, text: string) => {
  try {
    return change(text)
  } catch {
    return text
  }
}

const decoded = (text: string) => formOf(decodeURIComponent, text)
const encoded = (text: string) => formOf(encodeURIComponent, text)

/** A short secret is searched for as a word: every text contains its letters. */
const patternOf = (secret: string) => {
  const literal = secret.replace(/[^\w]/gu, (character) => (character.length > 1 ? character : `\\${character}`))
  return secret.length < 4 ? `(?<!\\w)${literal}(?!\\w)` : literal
}

/** The forms of a secret. */
function formsOf(secret: string) {
  const plain = decoded(secret)
  return [secret, plain, encoded(plain), JSON.stringify(plain).slice(1, -1)]
}

function search() {
  const longestFirst = [...secrets].sort((one, other) => other.length - one.length)
  known = secrets.size === 0 ? undefined : new RegExp(longestFirst.map(patternOf).join('|'), 'gi')
}

/** Remembers a password or token, so that no message shows it: a server may repeat it. */
export function keepSecret(secret: string | undefined) {
  if (!secret) return
  for (const form of formsOf(secret)) {
    secrets.delete(form)
    secrets.add(form)
  }
  for (const oldest of secrets) {
    if (secrets.size <= MOST_SECRETS) break
    secrets.delete(oldest)
  }
  search()
}

/** A token that a new one replaces: the many tokens of a long life must not push out the passwords. */
export function forgetSecret(secret: string | undefined) {
  if (!secret) return
  for (const form of formsOf(secret)) secrets.delete(form)
  search()
}

/** Names of parameters whose value is secret. */
const SECRET_NAME = /passw|passphrase|pwd|secret|token/i

/** The passwords in an address, as they stand there, and the words in it that messages need: user, host and database. */
function partsOf(address: string) {
  const [, users = '', rest = ''] = /^[^/]*\/\/(?:([^/?#]*)@)?(.*)$/s.exec(address) ?? []
  const [place, query = ''] = rest.split('?', 2)
  const [user, ...password] = users.split(':')
  const given = query.split('&').map((pair) => pair.split('='))
  const inQuery = given.filter(([name]) => SECRET_NAME.test(name)).map(([, ...value]) => value.join('='))
  return {
    secrets: [password.join(':'), ...inQuery].filter((secret) => secret !== ''),
    words: [user, ...place.split(/[/:,#]/)],
  }
}

/** Whether an address has a password. */
export const hasSecret = (address: string): boolean => partsOf(address).secrets.length > 0

/**
 * Remembers the secrets of an address. A password that equals its user, host or database is not searched for: messages need
 * that word, and do not tell that it is the password.
 */
export function keepSecretsOf(address: string) {
  const { secrets, words } = partsOf(address)
  const shown = new Set(words.map(decoded))
  for (const secret of secrets) if (!shown.has(decoded(secret))) keepSecret(secret)
}

/** Without the secrets that we were given. */
const withoutKnown = (text: string) => (known === undefined ? text : text.replace(known, '…'))

/** A text on one line, without secrets. Secrets are removed first: half of one is still secret. */
export const clean = (text: string): string => printable(withoutSecretsIn(withoutKnown(text)))

/** A property of something that is not ours. */
function read(thrown: unknown, name: string): unknown {
  try {
    return Object(thrown)[name]
  } catch {
    // a getter that throws
  }
}

const textOf = (thrown: unknown): string => {
  if (typeof thrown === 'string') return thrown
  for (const name of ['sqlMessage', 'message', 'code']) {
    const text = read(thrown, name)
    if (typeof text === 'string' && text !== '') return text
  }
  return Object(thrown) === thrown ? 'an error without a message' : String(thrown)
}

/** White space with a control character in it. Each run is tried once, so that the time grows linearly. */
const withoutBreaks = (text: string) => text.replace(/[\s\p{Cc}]+/gu, (run) => (/\p{Cc}/u.test(run) ? ' ' : run))

/** The text, or its beginning without the last word: half an address may show what the whole one hides. */
const beginningOf = (text: string) =>
  text.length > MOST_READ ? `${text.slice(0, MOST_READ).replace(/(?<!\S)\S+$/, '')}…` : text

/** What an error, or a text of others, says: for a message. '' stays ''. */
export function said(from: unknown, most: number = LONGEST): string {
  // A secret may contain control characters, so it is taken out before they are.
  const text = clean(withoutBreaks(withoutKnown(beginningOf(textOf(from))))).trim()
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** Errors that belong to one cause, at most; an error may also contain itself. */
const MOST_ERRORS = 16
/** Lines of a stack, at most. */
const MOST_CALLS = 50
/** Those who handle an error need these; everything else may be what a package was called with. */
const FACTS = ['code', 'errno', 'sqlState', 'syscall']

/** The calls of a stack, without the message that precedes them. */
function callsOf(thrown: unknown) {
  const stack = read(thrown, 'stack')
  const lines = typeof stack === 'string' ? stack.slice(0, MOST_READ).split('\n') : []
  const calls = lines.filter((line) => /^\s{1,20}at /.test(line)).slice(0, MOST_CALLS)
  return calls.map((call) => `\n${clean(call)}`).join('')
}

/**
 * An error of others, to be kept as a cause: a copy of what it says and where it was thrown. The original may hold what its
 * package was called with, such as the arguments of AUTH. Our own errors are kept as they are.
 */
export function causeOf(thrown: unknown, seen: Set<unknown> = new Set()): unknown {
  if (thrown === undefined || isBranded(thrown)) return thrown
  seen.add(thrown)
  const copied = (each: unknown) => (seen.size < MOST_ERRORS && !seen.has(each) ? [causeOf(each, seen)] : [])
  const message = said(thrown)
  const inner = read(thrown, 'cause') ?? read(thrown, 'lastNodeError') // the latter is of ioredis' cluster
  const [cause] = inner === undefined || inner === null ? [] : copied(inner)
  const options = cause === undefined ? undefined : { cause }
  const errors = read(thrown, 'errors')
  const copy = Array.isArray(errors)
    ? new AggregateError(errors.slice(0, MOST_ERRORS).flatMap(copied), message, options)
    : new Error(message, options)
  const name = said(read(thrown, 'name') ?? 'Error', 60)
  for (const fact of FACTS) {
    const value = read(thrown, fact)
    if (typeof value === 'number') Object.assign(copy, { [fact]: value })
    else if (typeof value === 'string') Object.assign(copy, { [fact]: said(value, 60) })
  }
  const hidden = { enumerable: false, writable: true, configurable: true }
  return Object.defineProperties(copy, {
    name: { value: name, ...hidden },
    stack: { value: `${name}: ${message}${callsOf(thrown)}`, ...hidden },
  })
}

/** A warning of Node's process, if there is one. */
export function warn(code: WarningCode, message: string) {
  const { process } = globalThis as Partial<typeof globalThis>
  process?.emitWarning?.(clean(message), { code })
}
