'use strict'

// An address as it may be shown in a message.

/**
 * A password may stand before the @, and hold what it should not, such as a slash; or among the parameters. An @ after a
 * question mark may belong to either: then nothing is shown.
 */
function withoutPassword(url) {
  const [, scheme, rest] = /^((?:[a-z][a-z\d+.-]*:\/\/)?)(.*)$/is.exec(url)
  const [address, ...parameters] = rest.split('?')
  if (parameters.some((part) => part.includes('@'))) return `${scheme}…`
  return `${scheme}${address.replace(/.*@/s, '…@')}${parameters.length > 0 ? '?…' : ''}`
}

module.exports = { withoutPassword }
