// Certificates for tests, made by openssl.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../servers/server.mjs'
import { isWindows } from './processes.mjs'

export const openssl = isWindows ? undefined : findProgram('openssl')

/** `test`, or one that skips where openssl is not installed. */
export function withOpenssl(test) {
  if (openssl !== undefined) return test
  console.warn('\n!!! SKIPPED: openssl is not installed: the tests of TLS do not run !!!\n')
  return test.skip
}

const run = promisify(execFile)

/**
 * A certificate in this folder that `signer` signed, or that signs itself: the files of its `key` and `cert`.
 * @param names its subjectAltName; without it, a certificate that signs itself is that of a CA
 */
export async function makeCertificate(folder, name, signer, names = signer && 'IP:127.0.0.1') {
  const file = (kind) => join(folder, `${name}.${kind}`)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file('key')]
  const usage = names === undefined ? 'basicConstraints=critical,CA:TRUE' : `subjectAltName=${names}`
  const args = ['-out', file('crt'), '-subj', `/CN=${name}`, '-addext', usage, ...signedBy(signer)]
  await run(openssl, ['req', '-x509', ...key, ...args])
  return { key: file('key'), cert: file('crt') }
}

const signedBy = (signer) => (signer === undefined ? [] : ['-CA', signer.cert, '-CAkey', signer.key])

/** A certificate for the same key and names, which expired yesterday. */
export async function makeExpired(folder, name, signer, names) {
  const { key } = await makeCertificate(folder, name, signer, names)
  const [request, cert] = ['csr', 'crt'].map((kind) => join(folder, `${name}.${kind}`))
  await run(openssl, [
    'req',
    '-new',
    '-key',
    key,
    '-out',
    request,
    '-subj',
    `/CN=${name}`,
    '-addext',
    `subjectAltName=${names}`,
  ])
  const signing = [...signedBy(signer), '-CAcreateserial', '-copy_extensions', 'copy', '-days', '-1']
  await run(openssl, ['x509', '-req', '-in', request, '-out', cert, ...signing])
  return { key, cert }
}
