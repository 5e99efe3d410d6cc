// The tarballs as two linters of packages see them: publint (does package.json describe the files?) and arethetypeswrong
// (do the types fit what require and import give, in each of TypeScript's ways to look for them?).

const path = require('node:path')
const { packed, project, run } = require('../project.js')

module.exports = async (report) => {
  const folder = project(__dirname)
  const program = (name) => path.join(folder, 'node_modules', '.bin', name)
  for (const [name, tarball] of Object.entries(packed()))
    report(`publint: the ${name} package`, run(program('publint'), ['--strict', tarball], folder))
  report('arethetypeswrong', run(program('attw'), ['--no-emoji', packed().main], folder))
}
