// Texts from outside, made safe to print: `withoutSecrets` and `withoutSecretsIn` hide passwords, `printable` shows control
// characters instead of sending them to a terminal. Whoever cuts a text cuts it afterwards: half of a password is one, too.

const PLACEHOLDER = '[user:password@]' // in our own messages
const ASSIGNMENT = /([\w-]*(?:passw|pwd|secret|token)[\w-]*\s*=\s*)('[^']*'?|"[^"]*"?|[^\s&;,'"]+)/gi
// A password may have quotes in it, so what is before an @ reaches from the colon over everything but white space.
const WORD = /[^\s'"`]*:(?:\S*@|\/\/)[^\s'"`]*/g

const withoutAssigned = (text: string) => text.replace(ASSIGNMENT, '$1…')

/** Whether an @ in it can only be part of a folder's name. */
const isPath = (text: string) => /^(?:file:)?(?:[a-z]:)?(?:[\\/](?![\\/])|[.~])[^:]*$/i.test(text)

/** In `host:port`, what is no port may be the password of an address without its host. */
const withoutBadPort = (host: string) => host.replace(/^([^:[\]]*):(?!\d{0,5}$).*/s, '$1:…')

/**
 * An address, perhaps malformed, or a value in the place of one. Whatever is before an @ may be a password; so may
 * parameters. With an @ after them we cannot tell where the password is, and show nothing.
 */
export function withoutSecrets(text: string) {
  if (isPath(text)) return text
  const [scheme] = /^(?:[a-z][a-z\d+.-]*:)?(?:\/\/+)?/i.exec(text) as RegExpExecArray
  const rest = text.slice(scheme.length)
  const at = rest.lastIndexOf('@')
  const end = rest.search(/[?#]/)
  if (at < 0 && !scheme.endsWith('//')) return withoutAssigned(text)
  if (end >= 0 && at > end) return `${scheme}…`
  const [hosts, ...path] = rest.slice(at + 1, end < 0 ? undefined : end).split('/')
  const shown = [hosts.split(',').map(withoutBadPort).join(','), ...path].join('/')
  return withoutAssigned(`${scheme}${at < 0 ? '' : '…@'}${shown}${end < 0 ? '' : `${rest[end]}…`}`)
}

/** The same for a text with addresses in it, such as another program's error. */
export const withoutSecretsIn = (text: string) =>
  withoutAssigned(text.replace(WORD, (word) => (word.includes(PLACEHOLDER) ? word : withoutSecrets(word))))

/** On one line, with an escape for each control character, direction mark and other character that nobody sees. */
export const printable = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? '\\n' : `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  )
