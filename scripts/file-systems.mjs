// `node scripts/file-systems.mjs`: the tests of files on each file system that this machine can create, as root: those
// of the addon and those of the core. The temporary folder of the tests is on it.

import { spawnSync } from 'node:child_process'
import { mount, SYSTEMS } from './mounts.mjs'

const SIZE_MB = 512
const COMMANDS = [
  ['npx', ['ava', '__test__/files/**/*.test.mjs', '!__test__/files/file-systems.test.mjs']],
  ['cargo', ['test', '--locked', '--package', 'flakeforge-core', '--test', 'files']],
]

let failed = 0
for (const name of SYSTEMS) {
  const { root, unmount } = mount(name, SIZE_MB)
  for (const [program, args] of COMMANDS) {
    const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, TMPDIR: root } })
    console.log(`\n${status === 0 ? 'ok    ' : 'FAILED'} ${name}: ${program} ${args[0]}`)
    if (status !== 0) failed++
  }
  unmount()
}
process.exitCode = failed === 0 ? 0 : 1
