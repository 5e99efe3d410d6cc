// Makes texts from outside safe to print: `withoutSecrets` and `withoutSecretsIn` hide passwords, `printable` escapes control
// characters instead of sending them to a terminal. Cut a text only afterwards: half a password is still a secret.

const PLACEHOLDER = '[user:password@]'
// Texts may be very long. Each word is tried once, from its start, so that the time grows linearly and not with the square of
// the length.
const ASSIGNMENT =
  /(?<![\w-])((?=[\w-]*?(?:passw|pwd|secret|token|credential|authorization|key(?![\w-]))|(?:user(?:name|[-_]?id)?|uid|login|auth)(?![\w-]))[\w-]+(?:\s*=|['"]\s*:)\s*)('[^']*'?|"[^"]*"?|[^\s&;,'"]+)/gi
/** The header, as `name: value`. */
const AUTHORIZATION = /(?<![\w-])((?:proxy-)?authorization:\s*)(?:(?:basic|bearer)\s+)?\S+/gi

const withoutAssigned = (text: string) => text.replace(ASSIGNMENT, '$1…').replace(AUTHORIZATION, '$1…')

/** Whether an @ in it can only be part of a folder's name. */
const isPath = (text: string) => /^(?:file:)?(?:[a-z]:)?(?:[\\/](?![\\/])|[.~])[^:]*$/i.test(text)

/** In `host:port`, an invalid port may be the password of an address without its host, and the host its user. */
const withoutBadPort = (host: string) => host.replace(/^[^:[\]]*:(?!\d{0,5}$).*/s, '…')

/** The parameters of an address, in one of the forms in use. */
const PARAMETERS = /[?#]|[;,&](?=[\w.-]{1,60}=)/

/** Whether a text without an @ is an address: then nothing is shown of its parameters. */
function isAddress(text: string) {
  if (text.includes('//')) return true
  const start = text.indexOf('?')
  return start >= 0 && (text.includes('=', start) || text.lastIndexOf(':', start) >= 0)
}

/**
 * An address, of any scheme and perhaps malformed, or a value given in place of one. Everything before an @ may be a user or a
 * password; so may parameters. With an @ after them the password cannot be located, and nothing is shown.
 */
export function withoutSecrets(text: string) {
  if (isPath(text)) return withoutAssigned(text)
  const [scheme] = /^\s*(?:[a-z][a-z\d+.-]*:)?(?:\/\/+)?/i.exec(text) as RegExpExecArray
  const rest = text.slice(scheme.length)
  const at = rest.lastIndexOf('@')
  const end = rest.search(PARAMETERS)
  if (at < 0 && !isAddress(text)) return withoutAssigned(text)
  if (end >= 0 && at > end) return `${scheme}…`
  const [hosts, ...path] = rest.slice(at + 1, end < 0 ? undefined : end).split('/')
  const shown = [hosts.split(',').map(withoutBadPort).join(','), ...path].join('/')
  const start = at >= 0 && !scheme.endsWith('/') ? '' : scheme // without slashes it may be a user
  return withoutAssigned(`${start}${at < 0 ? '' : '…@'}${shown}${end < 0 ? '' : `${rest[end]}…`}`)
}

/** Where the part of a word that begins here ends: at the next quote. */
function endOfPart(word: string, start: number) {
  const length = word.slice(start).search(/['"`]/)
  return length < 0 ? word.length : start + length
}

/** What ends a clause or a sentence. After an address, it would look like a part of the port. */
const PUNCTUATION = /(?<![.,:;!?)])[.,:;!?)]+$/

/** A part of a word that may be an address, perhaps at the end of a sentence. */
function addressWithoutSecrets(part: string) {
  const [end] = PUNCTUATION.exec(part) ?? ['']
  return withoutSecrets(part.slice(0, part.length - end.length)) + end
}

/**
 * A word: text between white space. Quotes separate its parts, and a part with a colon may be an address. A password may
 * contain quotes, so such an address extends over them to the last @.
 */
function withoutSecretsInWord(word: string) {
  const at = word.lastIndexOf('@')
  const shown: string[] = []
  for (let start = 0; start <= word.length; ) {
    let end = endOfPart(word, start)
    const colon = word.slice(start, end).indexOf(':')
    const isBeforeAt = colon >= 0 && start + colon < at
    if (isBeforeAt) end = endOfPart(word, at)
    const part = word.slice(start, end)
    const mayBeAddress = (isBeforeAt || isAddress(part)) && !part.includes(PLACEHOLDER)
    shown.push(mayBeAddress ? addressWithoutSecrets(part) : part, word.charAt(end))
    start = end + 1
  }
  return shown.join('')
}

/** The same for a text that contains addresses, such as another program's error. */
export const withoutSecretsIn = (text: string) => withoutAssigned(text.replace(/\S+/g, withoutSecretsInWord))

/** Without full stops and white space at its end, so that a message can continue after it. */
export const withoutEnd = (text: string) => text.replace(/(?<![.\s])[.\s]+$/, '')

/** On one line, with an escape for each control character, direction mark and other invisible character. */
export const printable = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? '\\n' : `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  )
