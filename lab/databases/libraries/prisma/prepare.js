// Generates Prisma's client for each database, as `npx prisma generate` does: TypeScript, which Node.js runs directly,
// in target/, which git ignores. It needs no network: the schema engine, which an install script of Prisma's would
// download, is for migrations only.

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const command = join(dirname(createRequire(import.meta.url).resolve('prisma/package.json')), 'build', 'index.js')

const QUIET = { CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' } // it asks no server for news

/** Any program works: `generate` looks for the engine and does not run it. */
const NO_ENGINE = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }

rmSync(join(import.meta.dirname, 'target'), { recursive: true, force: true })
for (const schema of ['postgres', 'mariadb', 'sqlite', 'function-postgres', 'function-mariadb']) {
  execFileSync(process.execPath, [command, 'generate', '--schema', `${schema}.prisma`, '--no-hints'], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...QUIET, ...NO_ENGINE },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
