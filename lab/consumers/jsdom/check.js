// Older versions of jest with jsdom, each in a project with its own packages. There, `require` gets the browser's entry,
// unless a test file selects Node's as docs/reference/test-runners.md says.

const fs = require('node:fs')
const path = require('node:path')
const { project, run } = require('../project.js')

module.exports = (report, wants) => {
  for (const name of ['jest-28', 'jest-29'].filter(wants)) {
    const folder = project(path.join(__dirname, name))
    fs.cpSync(path.join(__dirname, 'tests'), path.join(folder, 'tests'), { recursive: true })
    const jest = path.join(folder, 'node_modules', '.bin', 'jest')
    report(`${name} with jsdom`, run(jest, ['--ci', '--rootDir', 'tests'], folder))
  }
}
