// flakeforge as TypeScript sees it in a project: a copy of the published files in a separate folder, with @types/node,
// and the TypeScript of this repository to compile against it.

import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const require = createRequire(import.meta.url)
const { files } = require('../../package.json')
const root = path.join(import.meta.dirname, '..', '..')
const TSC = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')

/** Makes the project's folder. */
export async function makeProject() {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'flakeforge-types-'))
  const modules = path.join(folder, 'node_modules')
  const addons = (await fs.readdir(root)).filter((file) => file.endsWith('.node'))
  for (const file of ['package.json', ...files, ...addons])
    await fs.cp(path.join(root, file), path.join(modules, 'flakeforge', file), { recursive: true })
  for (const name of ['@types/node', 'undici-types'])
    await fs.cp(path.join(root, 'node_modules', name), path.join(modules, name), { recursive: true })
  return folder
}

export const removeProject = (folder) => folder && fs.rm(folder, { recursive: true, maxRetries: 5 })

/** Runs Node.js to its end, whatever its exit status. */
export async function node(args, cwd) {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 2 ** 26 })
    return { code: 0, output: stdout }
  } catch ({ code, stdout, stderr }) {
    return { code, output: stdout + stderr }
  }
}

/** Compiles a folder that has a tsconfig.json. */
export const compile = (folder) => node([TSC, '--pretty', 'false', '--project', folder], folder)
