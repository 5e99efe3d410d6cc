'use strict'
// @ts-check

// The files with tokens, certificates and keys. No message shows what is in them.

const { readFileSync } = require('node:fs')
const { createSecureContext } = require('node:tls')
const { ConfigError } = require('./config-error.js')

const LEAST = 16

/** @param {string} file */
const wayOut = (file) => `To make one: openssl rand -hex 32 > ${file}`

/**
 * The tokens of a file. None at all is an error: an empty file is more likely a mistake than a wish to let nobody in.
 * @param {string} file
 */
function readTokenFile(file) {
  const lines = read(file, 'token file', wayOut(file)).split(/\r?\n/)
  const tokens = lines.map((line) => line.replace(/^\uFEFF/, '').trim())
  for (const [i, token] of tokens.entries()) checkToken(token, `${file}, line ${i + 1}`)
  const kept = tokens.filter((token) => token !== '' && !token.startsWith('#'))
  if (kept.length === 0) throw new ConfigError(`The token file ${file} has no token. ${wayOut(file)}`)
  return kept
}

/**
 * @param {string} token
 * @param {string} where
 */
function checkToken(token, where) {
  if (token === '' || token.startsWith('#')) return
  if (token.length < LEAST)
    throw new ConfigError(`${where}: a token has ${LEAST} characters or more, not ${token.length}.`)
  // What RFC 6750 allows in a header; others could never be sent.
  if (!/^[\w.~+/-]+=*$/.test(token))
    throw new ConfigError(`${where}: a token has letters, digits and -._~+/ only, and = at its end.`)
}

/**
 * Node's options for TLS; undefined without a certificate.
 * @param {import('./sources.js').Values} values
 */
function readTlsFiles({ 'tls-cert': cert, 'tls-key': key, 'tls-ca': ca }) {
  if (cert === undefined) return undefined
  const clients = ca === undefined ? {} : { ca: read(ca, 'tls-ca'), requestCert: true, rejectUnauthorized: true }
  const options = { cert: read(cert, 'tls-cert'), key: read(key, 'tls-key'), ...clients }
  try {
    createSecureContext(options)
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    throw new ConfigError(`tls-cert, tls-key and tls-ca do not make a certificate: ${code ?? message}.`)
  }
  return options
}

/**
 * @param {string} file
 * @param {string} what
 * @param {string} [hint]
 */
function read(file, what, hint = '') {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new ConfigError(`The ${what} ${file} cannot be read: ${message}. ${hint}`.trimEnd())
  }
}

module.exports = { readTlsFiles, readTokenFile }
