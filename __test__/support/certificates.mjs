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

/** A certificate in this folder that `signer` signed, or that signs itself: the files of its `key` and `cert`. */
export async function makeCertificate(folder, name, signer) {
  const file = (kind) => join(folder, `${name}.${kind}`)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file('key')]
  const signing = signer === undefined ? [] : ['-CA', signer.cert, '-CAkey', signer.key]
  const usage = signer === undefined ? 'basicConstraints=critical,CA:TRUE' : 'subjectAltName=IP:127.0.0.1'
  const args = ['req', '-x509', ...key, '-out', file('crt'), '-subj', `/CN=${name}`, '-addext', usage, ...signing]
  await promisify(execFile)(openssl, args)
  return { key: file('key'), cert: file('crt') }
}
