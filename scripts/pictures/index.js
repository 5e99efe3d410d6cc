'use strict'

// Draws the pictures of the documents, light and dark, and writes their figures of speed, from the code and from the
// benchmark's results: `node scripts/pictures`. A test compares them with the files.

const fs = require('node:fs')
const path = require('node:path')
const { THEMES } = require('./drawing.js')
const { tables } = require('./tables.js')

const docs = path.join(__dirname, '..', '..', 'docs')

/** How each picture is drawn, by its name in docs/ without the theme. */
const PICTURES = {
  'start/id': require('./id.js').drawId,
  'start/speed': (colours) => require('./bars.js').drawBars(measured(), colours),
  'store/windows': require('./windows.js').drawWindows,
}

/** The results that `npm run bench -- --figures` has written. */
const MEASURED = path.join(docs, 'start', 'speed.json')
const measured = () => JSON.parse(fs.readFileSync(MEASURED, 'utf8'))

/** All pictures: the path of each file, and its expected contents. */
const pictures = () =>
  Object.entries(PICTURES).flatMap(([name, draw]) =>
    Object.entries(THEMES).map(([theme, colours]) => ({
      file: path.join(docs, `${name}-${theme}.svg`),
      svg: draw(colours),
    })),
  )

/** All files that this writes, and their expected contents. */
const outputs = () => [...pictures().map(({ file, svg }) => ({ file, text: svg })), ...tables(measured())]

function writeAll() {
  for (const { file, text } of outputs()) fs.writeFileSync(file, text)
}

module.exports = { MEASURED, measured, outputs, pictures, writeAll }

if (require.main === module) writeAll()
