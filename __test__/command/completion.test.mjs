// `flakeforge completion`: what Tab offers in real bash, zsh and fish, each on its own terminal.

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import anyTest from 'ava'
import { wantProgram } from '../servers/server.mjs'
import { COMMAND, environment, isRefused, linesOf } from '../support/command.mjs'
import { FlakeId } from '../support/index.mjs'
import { once, until } from '../support/waits.mjs'

const { SCHEMES } = createRequire(import.meta.url)('../../target/rooms/lib/stores/schemes.js')

const COMMANDS = fs
  .readdirSync(new URL('../../bin/commands', import.meta.url))
  .map((file) => file.replace('.ts', ''))
  .sort()

/** A folder with the command as `flakeforge`, and with folders and a file to complete. */
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-completion-'))
process.once('exit', () => fs.rmSync(home, { recursive: true, force: true }))
fs.mkdirSync(path.join(home, 'bin'))
fs.mkdirSync(path.join(home, 'ids-here'))
fs.writeFileSync(path.join(home, 'ids-file'), '')
fs.writeFileSync(path.join(home, 'bin', 'flakeforge'), `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`, {
  mode: 0o755,
})

/** How to start each shell without the user's own files, and what to run before our script. */
const SHELLS = {
  bash: { args: ['--norc', '--noprofile', '-i'], setup: ['eval "$(flakeforge completion bash)"'] },
  zsh: {
    args: ['-f', '-i'],
    setup: ['autoload -Uz compinit; compinit -u -D', 'eval "$(flakeforge completion zsh)"', 'setopt no_prompt_cr'],
  },
  fish: { args: ['--no-config', '-i'], setup: ['flakeforge completion fish | source'] },
}

/** A shell on its own terminal (created by util-linux's script): typed text goes in, the shown text comes out. */
class Terminal {
  #child
  #shown = ''

  constructor(t, shell, program) {
    const command = [program, ...SHELLS[shell].args].join(' ')
    const env = environment({ HOME: home, TERM: 'dumb', PS1: '$ ', LC_ALL: 'C.UTF-8' })
    env.PATH = `${path.join(home, 'bin')}:${process.env.PATH}`
    this.#child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: home, env, detached: true })
    this.#child.stdout.setEncoding('utf8').on('data', (text) => {
      this.#shown += stripVTControlCharacters(text)
    })
    t.teardown(() => this.#end())
  }

  async #end() {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    process.kill(-this.#child.pid, 'SIGKILL')
    await ended
  }

  type(text) {
    this.#child.stdin.write(text)
  }

  /** Waits until the shown text is enough; returns all text since the last call. */
  async sees(isEnough) {
    const hasEnded = () => this.#child.exitCode !== null
    await until(() => isEnough(this.#shown) || hasEnded(), { state: () => `the shell shows: ${this.#shown}` })
    if (!isEnough(this.#shown)) throw new Error(`the shell has ended: ${this.#shown}`)
    const shown = this.#shown
    this.#shown = ''
    return shown
  }

  /** Types a line and Enter, and waits until it has run. */
  async runs(line) {
    const word = `done${Math.random().toString(36).slice(2)}`
    this.type(`${line}; echo ${word.slice(0, 4)}""${word.slice(4)}\r`)
    return this.sees((shown) => new RegExp(`^${word}`, 'm').test(shown))
  }
}

async function started(t, shell, program) {
  t.timeout(120_000)
  const terminal = new Terminal(t, shell, program)
  for (const line of SHELLS[shell].setup) await terminal.runs(line)
  return terminal
}

for (const shell of Object.keys(SHELLS)) {
  const program = process.platform === 'win32' ? undefined : wantProgram(shell)
  const isThere = program !== undefined && wantProgram('script') !== undefined && process.platform === 'linux'
  const test = isThere ? anyTest.serial : anyTest.serial.skip

  test(`${shell}: Tab completes commands, options, layouts and forms into a line that runs`, async (t) => {
    const terminal = await started(t, shell, program)
    // Each word is typed as far as necessary; the output is that of the whole line.
    const shown = await terminal.runs('flakeforge layo\t --js\t')
    t.true(shown.includes('{"name":"hazelcast"'), shown)
    const id = await terminal.runs('flakeforge new 1 --layout haz\t --nod\t 77 --as js\t')
    t.true(id.includes('"layout":"hazelcast"') && id.includes('"node":77'), id)
    const read = await terminal.runs('flakeforge inspect 175928847299117063 --layout=disc\t --json')
    t.true(read.includes('"layout":"discord"'), read)
  })

  test(`${shell}: Tab completes folders where a store is expected, and addresses`, async (t) => {
    const terminal = await started(t, shell, program)
    const shown = await terminal.runs('flakeforge slots ids\t')
    t.regex(shown, /For that folder, use file:\/\S*ids-here/, 'a relative path is rejected with the address to type')
    t.regex(await terminal.runs('flakeforge slots post\tnobody@127.0.0.1:1/x'), /flakeforge: .*ECONNREFUSED/)
  })

  test(`${shell}: pressing Tab twice lists the choices`, async (t) => {
    const terminal = await started(t, shell, program)
    const names = Object.keys(FlakeId.layouts)
    const hasAll = (shown) => names.every((name) => shown.includes(name))
    // fish draws its list only on a more capable terminal; it reports what it would draw.
    if (shell === 'fish')
      return t.true(hasAll(await terminal.runs("complete --do-complete 'flakeforge new --layout '")))
    terminal.type('flakeforge new --layout \t\t')
    t.true(hasAll(await terminal.sees(hasAll)))
  })
}

// What the scripts ask the command for.

const offers = async (t, ...words) =>
  (await linesOf(t, ['completion', '--', ...words])).map((line) => line.split('\t')[0]).sort()

anyTest('commands are offered, and the options of new, which is the default command', async (t) => {
  t.deepEqual(await offers(t, ''), [...COMMANDS, 'help'].sort())
  t.deepEqual(await offers(t, 'in'), ['inspect'])
  t.deepEqual(await offers(t, 'help', ''), COMMANDS)
  const options = await offers(t, '--')
  for (const name of ['--version', '--help', '--as', '--worker', '--store']) t.true(options.includes(name), name)
})

anyTest('every address that is offered has a scheme that opens, and every kind of store is offered', async (t) => {
  const offered = (await offers(t, 'slots', '')).filter((line) => line.endsWith('://')).map((url) => url.slice(0, -2))
  const isOffered = (scheme) => offered.includes(scheme)
  t.deepEqual(
    offered.filter((scheme) => !Object.values(SCHEMES).flat().includes(scheme)),
    [],
  )
  for (const [store, schemes] of Object.entries(SCHEMES)) t.true(schemes.some(isOffered), store)
})

anyTest('options that are not typed yet are offered, with the node fields of the given layout', async (t) => {
  const flake = await offers(t, 'new', '--')
  t.true(flake.includes('--worker') && !flake.includes('--node'))
  const hazelcast = await offers(t, 'new', '--layout', 'hazelcast', '--')
  t.true(hazelcast.includes('--node') && !hazelcast.includes('--worker') && !hazelcast.includes('--layout'))
  t.deepEqual(await offers(t, 'new', '--layout=instagram', '--sh'), ['--shard', '--shared'])
  t.true((await offers(t, 'new', '--layout', 'nope', '--')).includes('--as'), 'despite all errors so far')
  for (const command of COMMANDS) t.true((await offers(t, command, '--')).includes('--json'), command)
})

anyTest('values are offered: layouts, forms, modes, shells, and places', async (t) => {
  const names = Object.keys(FlakeId.layouts).sort()
  for (const command of ['new', 'inspect', 'at', 'create']) t.deepEqual(await offers(t, command, '--layout', ''), names)
  t.deepEqual(await offers(t, 'at', 'now', '--layout=sn'), ['--layout=snowcast'])
  t.deepEqual(await offers(t, '--as', 'b'), ['base32', 'base36', 'base58', 'base62', 'bin'])
  t.deepEqual(await offers(t, 'inspect', '--mode', ''), ['sequential', 'spread'])
  t.deepEqual(await offers(t, 'completion', ''), ['bash', 'fish', 'zsh'])
  for (const words of [['slots'], ['create'], ['destroy'], ['new', '--store'], ['slots', '--json']]) {
    t.deepEqual((await offers(t, ...words, ''))[0], ':folders', words.join(' '))
  }
  t.deepEqual(await offers(t, 'new', '--shared', ''), [':files'])
  for (const words of [['create', 'x'], ['at'], ['new', '--id'], ['zebra'], ['help', 'new']]) {
    t.deepEqual(await offers(t, ...words, ''), [], words.join(' '))
  }
})

anyTest('every offered form is accepted by --as', async (t) => {
  const forms = await offers(t, 'new', '--as', '')
  t.true(forms.length >= 6)
  for (const form of forms) t.is((await linesOf(t, ['new', '2', '--id', '5', '--as', form])).length, 2)
})

anyTest('completion for an unknown shell is rejected', async (t) => {
  await isRefused(t, ['completion'], /bash, zsh, fish/)
  await isRefused(t, ['completion', 'fsih'], /Unknown shell 'fsih'\. Did you mean 'fish'\?/)
  await isRefused(t, ['completion', 'powershell'], /The shells are bash, zsh, fish/)
  await isRefused(t, ['completion', 'bash', 'zsh'], /one shell, not 2/)
})
