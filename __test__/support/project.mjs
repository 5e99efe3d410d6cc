// A separate project for a test: flakeforge as files, and only the named clients. It has no other way to a package:
// what is not named is not installed.

import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { copyFile, cp, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freshFolder } from '../servers/server.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of a new project. It goes with the test, or without one when this process ends. */
export async function newProject(t, ...packages) {
  const project = await freshFolder('project')
  t?.teardown(() => rm(project, { recursive: true, force: true }))
  await cp(join(root, 'target', 'rooms'), join(project, 'target', 'rooms'), { recursive: true })
  await cp(join(root, 'dist', 'traced.cjs'), join(project, 'dist', 'traced.cjs'))
  const addons = readdirSync(root).filter((name) => name.endsWith('.node'))
  for (const name of ['package.json', ...addons]) await copyFile(join(root, name), join(project, name))
  await mkdir(join(project, 'node_modules'))
  for (const name of packages) {
    await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name), 'junction')
  }
  return project
}

/** Runs code in a folder until the process ends without help; returns its output. Warnings would be in `stderr`. */
export async function runIn(folder, code, ...args) {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--eval', code, ...args], {
    cwd: folder,
    timeout: 30_000,
  })
  return stderr + stdout.trim()
}
