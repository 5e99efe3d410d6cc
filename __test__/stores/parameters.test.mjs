// Parameters of the addresses of stores: one that nobody reads is refused, with the one that was probably meant. A misspelt
// schema would be another store, whose members have the same node numbers.

import test from 'ava'
import { lease } from '../support/index.mjs'

const { openStore } = lease

/** By the address before the question mark: what is typed there, and the parameter that was meant. */
const MISSPELT = {
  'postgres://h/db': {
    shema: 'schema',
    shcema: 'schema',
    schemas: 'schema',
    Schema: 'schema',
    onwer: 'owner',
    hots: 'host',
    usr: 'user',
    pasword: 'password',
    option: 'options',
    aplication_name: 'application_name',
    'application-name': 'application_name',
    sslMode: 'sslmode',
    ssl_mode: 'sslmode',
    sslrootcrt: 'sslrootcert',
    pg_bouncer: 'pgbouncer',
  },
  'mysql://h/db': { SSL: 'ssl', sslmod: 'sslmode', 'ssl-mode': 'sslmode', sslkeys: 'sslkey', ssl_cert: 'sslcert' },
  'etcd://h': { tsl: 'tls', TLS: 'tls', tl: 'tls' },
}

for (const [address, names] of Object.entries(MISSPELT))
  test(`${address}: a misspelt parameter, with the one that was meant`, (t) => {
    for (const [typed, meant] of Object.entries(names)) {
      const { message } = t.throws(() => openStore(`${address}?${typed}=x`), { code: 'ERR_FLAKE_OPTION' }, typed)
      t.true(message.startsWith(`store must be an address without ?${typed}=: did you mean ?${meant}=?`), message)
    }
  })

/** What other programs call it, and what to do here. */
const OTHER = {
  'redis://h?db=2': /without \?db=: the number of the database is the path, as in \/2/,
  'valkey://h/1?database=2': /without \?database=: the number of the database is the path/,
  'redis://h?tls=true': /without \?tls=: with rediss:\/\/ there is TLS/,
  'rediss://h?tls=true': /without \?tls=: with rediss:\/\/ there is TLS/,
  'valkey://h?tls=true': /without \?tls=: with valkeys:\/\/ there is TLS/,
  'valkeys://h?ssl=true': /without \?ssl=: with valkeys:\/\/ there is TLS/,
  'redis-sentinel://h?ssl=1#primary': /without \?ssl=: with rediss-sentinel:\/\/ there is TLS/,
  'valkey-cluster://h?ssl=1': /without \?ssl=: with valkeys-cluster:\/\/ there is TLS/,
  'redis://h?connectTimeout=5': /without \?connectTimeout=: it is like redis:\/\/.*\[\/N\], where N is the number/,
  'redis-cluster://h?readFrom=replica': /without \?readFrom=: it is like redis-cluster:/,
  'postgres://h/db?currentSchema=ids': /name the schema of the table with \?schema=/,
  'postgres://h/db?statement_timeout=5': /without \?statement_timeout=: leave it out/,
  'mysql://h/db?schema=ids': /name the database in the path/,
  'mysql://h/db?charset=utf8': /without \?charset=: only one of the two packages/,
  'etcd://h?ssl=1': /without \?ssl=: \?tls=true says that there is TLS/,
  'etcd://h?namespace=x': /without \?namespace=: it is like etcd:/,
  'file:///var/lib/ids?slots=4': /a file URL in which \? is written as %3F/,
  'file:///var/lib/ids#1': /and # as %23/,
}

for (const [address, message] of Object.entries(OTHER))
  test(`${address} is refused with the way out`, (t) => {
    t.throws(() => openStore(address), { code: 'ERR_FLAKE_OPTION', message })
  })

test('a parameter that is given twice', (t) => {
  for (const address of [
    'postgres://h/db?schema=a&schema=b',
    'mysql://h/db?sslmode=require&sslmode=disable',
    'etcd://h?tls=true&tls=false',
  ])
    t.throws(() => openStore(address), { code: 'ERR_FLAKE_OPTION', message: /an address with \?\w+= once/ })
})

test('no message shows the part of a password after a ? as the name of a parameter', (t) => {
  for (const address of ['postgres://u:12?zk9@h/db', 'mysql://u:12?zk9=@h/db', 'redis://u:12?zk9&x@h'])
    t.notRegex(t.throws(() => openStore(address), { code: 'ERR_FLAKE_OPTION' }).message, /zk9/)
})
