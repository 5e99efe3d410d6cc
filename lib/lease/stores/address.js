'use strict'

// An address without its password, for messages.

/**
 * A password may be before the @, and may contain characters that it should not, such as a slash. It may also be among
 * the parameters. If an @ comes after a question mark, we cannot tell, so nothing is shown.
 */
function withoutPassword(url) {
  const [, scheme, rest] = /^((?:[a-z][a-z\d+.-]*:\/\/)?)(.*)$/is.exec(url)
  const [address, ...parameters] = rest.split('?')
  if (parameters.some((part) => part.includes('@'))) return `${scheme}…`
  return `${scheme}${address.replace(/.*@/s, '…@')}${parameters.length > 0 ? '?…' : ''}`
}

module.exports = { withoutPassword }
