// The set-up of docs/data/databases.md: creates the tables, signs a user up, and prints the IDs that are stored.

import { resolve } from 'node:path'
import { getMigrations } from 'better-auth/db/migration'
import { database } from './database.js'

process.env.FLAKEFORGE_STORE = `file:${resolve('ids')}`
process.env.BETTER_AUTH_URL = 'http://localhost:3000'
process.env.BETTER_AUTH_SECRET = 'DpM3sGkQ8xWv2ZbT6yNfR9uJcLhE4aKi'
const { auth } = await import('./auth.mjs')
const { runMigrations } = await getMigrations(auth.options)
await runMigrations()
await auth.api.signUpEmail({ body: { name: 'Ada', email: 'ada@example.com', password: 'a password of Ada' } })
for (const table of ['user', 'account', 'session'])
  console.log(table, database.prepare(`SELECT id FROM ${table}`).get().id)
process.exit()
