// The files with tokens, certificates and keys. Messages do not show their contents.

import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigError } from './config-error.ts'
import type { Values } from './sources.ts'

const LEAST = 16

const wayOut = (file: string) => `To make one: openssl rand -hex 32 > ${file}`

/** The tokens in a file. An empty file is an error: it is more likely a mistake than a wish to refuse every client. */
export function readTokenFile(file: string) {
  const lines = read(file, 'token file', wayOut(file)).split(/\r?\n/)
  const tokens = lines.map((line) => line.replace(/^\uFEFF/, '').trim())
  for (const [i, token] of tokens.entries()) checkToken(token, `${file}, line ${i + 1}`)
  const kept = tokens.filter((token) => token !== '' && !token.startsWith('#'))
  if (kept.length === 0) throw new ConfigError(`The token file ${file} has no token. ${wayOut(file)}`)
  return kept
}

function checkToken(token: string, where: string) {
  if (token === '' || token.startsWith('#')) return
  if (token.length < LEAST)
    throw new ConfigError(`${where}: a token has ${LEAST} characters or more, not ${token.length}.`)
  // The characters that RFC 6750 allows in a header; others could never be sent.
  if (!/^[\w.~+/-]+=*$/.test(token))
    throw new ConfigError(`${where}: a token has letters, digits and -._~+/ only, and = at its end.`)
}

/** Node's options for TLS; undefined without a certificate. */
export function readTlsFiles({ 'tls-cert': cert, 'tls-key': key, 'tls-ca': ca }: Values) {
  if (cert === undefined) return undefined
  const clients = ca === undefined ? {} : { ca: read(ca, 'tls-ca'), requestCert: true, rejectUnauthorized: true }
  const options = { cert: read(cert, 'tls-cert'), key: read(key, 'tls-key'), ...clients }
  try {
    createSecureContext(options)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConfigError(`tls-cert, tls-key and tls-ca do not form a valid certificate: ${code ?? message}.`)
  }
  return options
}

function read(file: string, what: string, hint: string = '') {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { message } = error as Error
    throw new ConfigError(`The ${what} ${file} cannot be read: ${message}. ${hint}`.trimEnd())
  }
}
