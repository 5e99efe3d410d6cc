// Shared by the tests of the guides: the blocks of a page, and a folder in which its programs find their imports.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freshFolder } from '../servers/server.mjs'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The blocks of a guide in one language, in order. */
export function blocksOf(guide, language) {
  const text = readFileSync(join(root, 'docs', guide), 'utf8')
  const all = text.matchAll(new RegExp(`^ *\`\`\`${language}\\n(.*?)^ *\`\`\`$`, 'gms'))
  return [...all].map(([, code]) => code)
}

/** A folder whose programs import flakeforge as users do, and the packages that tests have. */
export async function installed(t) {
  const folder = await freshFolder('guide')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const programs = join(folder, 'programs')
  await mkdir(join(programs, 'node_modules'), { recursive: true })
  await symlink(root, join(programs, 'node_modules', 'flakeforge'), 'junction')
  return programs
}

/** Writes a program into a folder; returns its path. */
export async function program(folder, name, code) {
  const file = join(folder, name)
  await writeFile(file, code)
  return file
}

/** The output of a command, line by line. */
export async function linesOf(command, args, env) {
  const { stdout } = await promisify(execFile)(command, args, { env: { ...process.env, ...env } })
  return stdout.trimEnd().split('\n')
}
