// Test tools that fake timers: jest, vitest, and sinon, which other runners use. Their tests are in the folders with
// their names.

const path = require('node:path')
const { project, run } = require('../project.js')

module.exports = async (report, wants) => {
  const folder = project(__dirname)
  const bin = (name, ...args) => run(path.join(folder, 'node_modules', '.bin', name), args, folder)
  if (wants('jest')) {
    report('jest, in processes', bin('jest', '--ci', '-w', '2'))
    report('jest, in worker threads', bin('jest', '--ci', '-w', '2', '--workerThreads'))
    const esModules = ['--experimental-vm-modules', path.join('node_modules', 'jest', 'bin', 'jest.js'), '--ci']
    report('jest, ES modules', run(process.execPath, [...esModules, '--testMatch', '**/jest/*.test.mjs'], folder))
  }
  if (wants('vitest')) report('vitest, in threads, processes and contexts', bin('vitest', 'run'))
  for (const when of wants('sinon') ? ['first', 'later'] : []) {
    const { ok, output } = run(process.execPath, ['sinon/timers.js', when], folder)
    // A process whose timers are all fakes would end in the middle, with status 0.
    report(`sinon, flakeforge is loaded ${when}`, { ok: ok && output.endsWith('all have ended'), output })
  }
}
