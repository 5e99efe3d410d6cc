// eslint-plugin-import: with the settings in docs/reference/package-managers.md it finds every entry. Without them it does
// not, as the document says; once it does, the chapter can go.

const fs = require('node:fs')
const path = require('node:path')
const { project, run } = require('../project.js')

const DOCUMENT = path.join(__dirname, '..', '..', '..', 'docs', 'reference', 'package-managers.md')
const ENTRIES = 5 // of program.mjs, besides the main one

/** The settings in the document. */
function documented() {
  const chapter = fs
    .readFileSync(DOCUMENT, 'utf8')
    .split(/^## /m)
    .find((part) => part.startsWith('ESLint\n'))
  return JSON.parse(/^```json\n(.*?)^```$/ms.exec(chapter)[1])
}

function lint(folder, settings) {
  const configuration = `
    import plugin from 'eslint-plugin-import'
    export default [plugin.flatConfigs.recommended, { languageOptions: { ecmaVersion: 2022 } }, ${JSON.stringify(settings)}]`
  fs.writeFileSync(path.join(folder, 'eslint.config.mjs'), configuration)
  const bin = path.join(folder, 'node_modules', '.bin', 'eslint')
  return run(bin, ['program.mjs'], folder)
}

module.exports = (report) => {
  const folder = project(__dirname)
  report('eslint-plugin-import, with the documented settings', lint(folder, documented()))
  const { output } = lint(folder, {})
  const unresolved = output.match(/import\/no-unresolved/g) ?? []
  report('eslint-plugin-import, without them', { ok: unresolved.length === ENTRIES, output })
}
