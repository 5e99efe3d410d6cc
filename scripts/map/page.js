'use strict'

// docs/map.md as text: the rooms as floors, and what each file is for and uses. All of it is read from the code.

const rooms = require('../rooms.js')
const { readCore } = require('./core.js')
const { drawing } = require('./drawing.js')
const { readLib } = require('./lib.js')

const HEAD = `# The map

What is where, and what uses what. \`npm run docs\` writes this page from the code. An arrow means "uses", and points down: a room may use the rooms below it, and no other. Where A uses B and B
uses C, no arrow is drawn from A to C; the tables have all of them.
[CONTRIBUTING](../CONTRIBUTING.md) says how to find the place of something.
`

const sorted = (texts) => [...texts].sort()

const shortName = (file) => file.slice(file.lastIndexOf('/') + 1)

/** A room's root file in the core is next to its folder: `lease/grants.rs` belongs to `lease/grants`. */
const inFolder = (file, files) => {
  const own = file.replace(/\.rs$/, '')
  return files.some((other) => other.startsWith(`${own}/`)) ? own : file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

/** The files of each folder: `[['lease', [file, …]], …]`, in the order of the floors, the highest first. */
function byFolder(files, floors) {
  const all = files.map(({ file }) => file)
  const folderOf = ({ file }) => inFolder(file, all)
  const floor = (folder) => floors.indexOf(folder.split('/')[0])
  const folders = sorted(new Set(files.map(folderOf))).sort((a, b) => floor(b) - floor(a))
  return folders.map((folder) => [folder, files.filter((file) => folderOf(file) === folder)])
}

/** The rooms as floors, and which of them use which. */
function drawFloors(files, floors) {
  const room = (file) => file.split(/[/.]/)[0]
  const arrows = files.flatMap(({ file, uses }) => uses.map((other) => [room(file), room(other)]))
  return drawing(
    floors,
    arrows.filter(([from, to]) => from !== to),
  )
}

/** The files of a folder, and which of them use which; nothing where no file uses another one. */
function drawFolder(files) {
  const own = files.map(({ file }) => file)
  const arrows = files.flatMap(({ file, uses }) =>
    uses.filter((other) => own.includes(other)).map((other) => [shortName(file), shortName(other)]),
  )
  return arrows.length === 0 ? '' : `\n${drawing(sorted(new Set(arrows.flat())), arrows)}\n`
}

/** What each file is for, and what it uses; files of other folders with the folder. */
function table(files, root) {
  const own = files.map(({ file }) => file)
  const used = (other) => (own.includes(other) ? shortName(other) : other).replace(/\.\w+$/, '')
  const rows = files.map(({ file, purpose, uses }) => {
    const link = `[${shortName(file)}](../${root}/${file})`
    return `| ${link} | ${purpose.replaceAll('|', '\\|')} | ${sorted(uses.map(used)).join(', ')} |`
  })
  return ['| file | what it is for | uses |', '|---|---|---|', ...sorted(rows)].join('\n')
}

/** A tree of files: its floors, then each folder. */
function chapter(root, files, floors) {
  const names = Object.keys(floors)
  const folders = byFolder(files, names).map(([folder, own]) => {
    const purpose = floors[folder] === undefined ? '' : `\n${floors[folder]}\n`
    return `### ${root}/${folder}\n${purpose}${drawFolder(own)}\n${table(own, root)}\n`
  })
  return `## ${root}\n\n${drawFloors(files, names.toReversed())}\n\n${folders.join('\n')}`
}

async function page() {
  const lib = chapter('lib', await readLib(), rooms.LIB)
  const core = chapter('core/src', readCore(), rooms.CORE)
  return `${HEAD}\n${lib}\n${core}`
}

module.exports = { page }
