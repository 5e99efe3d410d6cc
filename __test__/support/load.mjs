// An install of flakeforge whose addon a test may remove or damage, and programs that run in it. The files are where
// npm puts them: the package of the platform next to the package itself.

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { outputOf } from './index.mjs'

const require = createRequire(import.meta.url)
const root = path.join(import.meta.dirname, '..', '..')
const manifest = require('../../package.json')
const { ownPlatform } = require('../../scripts/pack.js')

/** The name of this platform's package. */
export const platformPackage = ownPlatform().manifest.name

const { NAPI_RS_NATIVE_LIBRARY_PATH: chosen } = process.env

/** The addon that tests load: this platform's, or another one that is chosen. */
export const addon = chosen?.endsWith('.node') ? path.resolve(chosen) : path.join(root, ownPlatform().manifest.main)

/** The release that is tested. */
export const { version } = manifest

/** The flag of this Node for its permission model. */
export const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

/** A project with flakeforge in it, removed when the test is over. */
export class Install {
  constructor(t) {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-load-'))
    t.teardown(() => fs.rmSync(this.folder, { recursive: true, force: true }))
    this.package = path.join(this.folder, 'node_modules', 'flakeforge')
    this.platform = path.join(this.folder, 'node_modules', platformPackage)
    this.addon = path.join(this.platform, ownPlatform().manifest.main)
    fs.writeFileSync(path.join(this.folder, 'package.json'), '{ "private": true }')
    for (const file of ['package.json', ...manifest.files])
      fs.cpSync(path.join(root, file), path.join(this.package, file), { recursive: true })
    fs.cpSync(ownPlatform().folder, this.platform, { recursive: true })
    fs.copyFileSync(path.join(root, ownPlatform().manifest.main), this.addon)
  }

  /** Runs Node in the project: exit code and output. */
  node(...args) {
    return this.run(process.execPath, args)
  }

  run(program, args, env = {}) {
    const child = spawn(program, args, { cwd: this.folder, env: { ...process.env, ...env }, timeout: 60_000 })
    child.stdin.end()
    return outputOf(child)
  }
}

/** The error of a program that ended with it: its message, its code, and everything it printed. */
export function failureOf({ code, stderr }) {
  const message = /^(?:.*Uncaught.* )?Error: (.*)$/m.exec(stderr)?.[1]
  return { exit: code, message, code: /code: ['"](\w+)['"]/.exec(stderr)?.[1], printed: stderr }
}
