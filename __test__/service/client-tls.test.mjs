// examples/clients against a server with a certificate of a private CA, which also requires one of the client: the
// commands of each README work, and without one of the two certificates no client gets an ID.

import { spawn } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { freshFolder } from '../servers/server.mjs'
import { makeCertificate, openssl, withOpenssl } from '../support/certificates.mjs'
import { blocks } from '../support/documents.mjs'
import { outputOf } from '../support/index.mjs'
import { isThere, LANGUAGES, pathOf } from './languages.mjs'

let folder
let server

test.before(async () => {
  if (openssl === undefined) return
  folder = await freshFolder('client-tls')
  const ca = await makeCertificate(folder, 'ca')
  await makeCertificate(folder, 'client', ca)
  const own = await makeCertificate(folder, 'server', ca)
  server = await startServer({ args: ['--tls-cert', own.cert, '--tls-key', own.key, '--tls-ca', ca.cert] })
})
test.after.always(async () => {
  await server?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

/** The blocks of a language's README with requests over https, for the server of these tests. */
const readmeOf = (name, language) =>
  blocks(readFileSync(pathOf(name, 'README.md'), 'utf8'))
    .filter((block) => block.language === language && block.code.includes('https:'))
    .map(({ code }) => code.replaceAll('https://127.0.0.1:8443', server.url))

/** Runs this among the files of a language and the certificates. */
function run(name, [command, ...args], env) {
  const cwd = join(folder, name)
  cpSync(pathOf(name), cwd, { recursive: true })
  for (const file of ['ca.crt', 'client.crt', 'client.key']) cpSync(join(folder, file), join(cwd, file))
  const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, ALL_PROXY, all_proxy, ...rest } = process.env
  const own = { FLAKEFORGE_SEEN: join(cwd, 'seen'), FLAKEFORGE_WAIT: '0', PYTHONPATH: pathOf('python'), ...env }
  return outputOf(spawn(command, args, { cwd, env: { ...rest, ...own } }))
}

const SHELLS = { python: 'python', go: 'sh', java: 'sh', curl: 'sh' }
const idsIn = (text) => text.match(/\d{17,20}/g) ?? []

for (const { name, requires, ...language } of LANGUAGES) {
  const needs = name === 'java' ? [...requires, 'keytool'] : requires
  const withTls = withOpenssl(isThere({ ...language, name, requires: needs }) ? test.serial : test.serial.skip)

  withTls(`${name}: its README's commands for a private CA and a client certificate get IDs`, async (t) => {
    const programs = readmeOf(name, SHELLS[name])
    t.is(programs.length, 1)
    const [program] = programs
    const command = name === 'python' ? ['python3', '-B', '-c', program] : ['sh', '-ec', program]
    const { code, stdout, stderr } = await run(name, command)
    t.is(code, 0, stderr)
    t.is(idsIn(stdout).length, name === 'curl' ? 4 : 1)
  })

  withTls(`${name}: without the CA, and without the client's certificate, no ID comes`, async (t) => {
    const [program] = readmeOf(name, SHELLS[name])
    const withoutOne = {
      python: [/\(cafile="ca.crt"\)/, '()', /context.load_cert_chain.*/, ''],
      go: ['FLAKEFORGE_CA=ca.crt ', '', /FLAKEFORGE_CERT=.* go/, 'go'],
      java: [/-Djavax.net.ssl.trustStore=.* /, '', /-Djavax.net.ssl.keyStore=.* /, ''],
      curl: [/FLAKEFORGE_CA=\S+/, '', /FLAKEFORGE_CERT=.* \.\//, './'],
    }[name]
    for (const [what, instead] of [withoutOne.slice(0, 2), withoutOne.slice(2)]) {
      const wrong = program
        .replace(what, instead)
        .replace(/^curl.*/m, '')
        .replace(/^(?:keytool|openssl) .*$/gm, '')
      t.not(wrong, program)
      const command = name === 'python' ? ['python3', '-B', '-c', wrong] : ['sh', '-ec', wrong]
      const { code, stdout, stderr } = await run(name, command)
      t.not(code, 0)
      t.deepEqual(idsIn(stdout), [])
      // With TLS 1.3 the server may reject a client after its handshake, by ending the connection.
      t.regex(stderr, /certificate|bad_certificate|SSL|PKIX|received no bytes/i)
    }
  })
}
