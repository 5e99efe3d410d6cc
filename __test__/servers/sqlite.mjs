// SQLite for tests: its shell, on a database in memory that ends with the call.

import { execFile } from 'node:child_process'
import { outputOf } from '../support/index.mjs'
import { wantProgram } from './server.mjs'

/** Whether these tests can run: the path of the shell, or undefined with a loud message. */
export const wantSqlite = () => wantProgram('sqlite3')

/** Runs statements in a new database, and returns the printed lines. */
export async function runSqlite(statements) {
  const child = execFile(wantSqlite(), ['-batch', '-bail', ':memory:'])
  child.stdin.end(statements.join('\n'))
  const { code, stdout, stderr } = await outputOf(child)
  if (code !== 0 || stderr !== '') throw new Error(`sqlite3 ended with ${code}: ${stderr}`)
  return stdout.split('\n').filter((line) => line !== '')
}
