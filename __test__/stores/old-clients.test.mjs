// Clients of old packages: rejected at once, with the required version. The old packages are not installed here: these
// objects have the properties by which the store recognises them. No server is needed.

import test from 'ava'
import { lease } from '../support/index.mjs'

const { postgresStore, redisStore } = lease
const OPTION = { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError }

test('node-redis 3 is rejected', (t) => {
  const message =
    /^A store cannot use this client\. It is from an old version of redis\. Version 4\.3\.0 or newer is needed.*`npm install redis@latest`\.$/
  const client = { connected: true, internal_send_command() {}, eval() {}, evalsha() {} }
  t.throws(() => redisStore(client), { ...OPTION, message })
})

test('postgres.js before 3.4.8, which may report uncommitted writes as committed, is rejected', (t) => {
  const message =
    /^A store cannot use this client\. It is from an old version of postgres\. Version 3\.4\.8 or newer is needed.*`npm install postgres@latest`\.$/
  const sql = () => {}
  Object.assign(sql, { unsafe() {}, begin() {}, options: { host: ['127.0.0.1'] } })
  t.throws(() => postgresStore(sql), { ...OPTION, message })
})
