// jest 29 with jsdom, a project with its own packages: jest 30 is in test-runners/. There, `require` gets the browser's
// entry, unless a test file selects Node's as docs/reference/test-runners.md says.

const path = require('node:path')
const { project, run } = require('../project.js')

module.exports = (report) => {
  const folder = project(__dirname)
  const jest = path.join(folder, 'node_modules', '.bin', 'jest')
  report('jest 29 with jsdom', run(jest, ['--ci', '--rootDir', 'tests'], folder))
}
