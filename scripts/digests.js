'use strict'

// The digests of files that one job of a workflow hands to another. Every job of a run can replace the artifacts of the
// others, so an artifact's name does not say who made it. But only the job itself sets its outputs. So a job that makes
// something for a release puts the digests of its files into its outputs, and the job that takes the files compares.
//
//   node scripts/digests.js FOLDER [PATH...]          prints the digests of the files in a folder, or of some of them
//   node scripts/digests.js --check FOLDER DIGESTS    fails unless the folder has exactly these files
//
// DIGESTS is a JSON object with a SHA-512 for each path, written as in the `integrity` of an npm registry. This script
// needs no package.

const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')

const digestOf = (file) => `sha512-${createHash('sha512').update(fs.readFileSync(file)).digest('base64')}`

/** The files at a path in a folder, and below it. A link is refused, because its target would not travel with it. */
function filesAt(folder, name) {
  const stats = fs.lstatSync(path.join(folder, name))
  if (stats.isFile()) return [name]
  if (!stats.isDirectory()) throw new Error(`${path.join(folder, name)} is neither a file nor a folder`)
  return fs.readdirSync(path.join(folder, name)).flatMap((each) => filesAt(folder, path.posix.join(name, each)))
}

/** The digest of each file in a folder, or of those at some paths in it. */
function digestsOf(folder, paths = ['.']) {
  const files = paths.flatMap((name) => filesAt(folder, name))
  return Object.fromEntries(files.sort().map((name) => [name, digestOf(path.join(folder, name))]))
}

/** Reads digests, which a job that failed or was skipped does not put out. */
function readDigests(text) {
  if (!text) throw new Error('There are no digests: the job that made the files must put them out')
  const digests = JSON.parse(text)
  const wrong = Object.entries(digests).find(([, digest]) => !/^sha512-[A-Za-z\d+/]{86}==$/.test(digest))
  if (wrong) throw new Error(`The digest of ${wrong[0]} is ${wrong[1]}: it must be sha512- and 64 bytes in Base64`)
  if (Object.keys(digests).length === 0) throw new Error('There are no digests: the job that made them found no file')
  return digests
}

/** Throws unless a folder has exactly the files of these digests, each with its content. */
function checkDigests(folder, digests) {
  if (!fs.existsSync(folder)) throw new Error(`Nothing is in ${folder}: there is no such folder`)
  const found = digestsOf(folder)
  const problems = [
    ...Object.keys(digests)
      .filter((name) => !Object.hasOwn(found, name))
      .map((name) => `${name} is missing`),
    ...Object.keys(found)
      .filter((name) => !Object.hasOwn(digests, name))
      .map((name) => `${name} has no digest, so the job that made the others did not make it`),
    ...Object.keys(found)
      .filter((name) => Object.hasOwn(digests, name) && found[name] !== digests[name])
      .map(
        (name) => `${name} was replaced: its digest is ${found[name]}, and it was ${digests[name]} when it was made`,
      ),
  ]
  if (problems.length > 0) throw new Error(`Nothing in ${folder} can be used:\n${problems.join('\n')}`)
}

module.exports = { checkDigests, digestsOf, readDigests }

if (require.main === module) {
  const [first, ...more] = process.argv.slice(2)
  if (first === '--check' && more.length === 2) checkDigests(more[0], readDigests(more[1]))
  else if (first !== undefined && !first.startsWith('-'))
    console.log(JSON.stringify(digestsOf(first, more.length > 0 ? more : undefined)))
  else {
    console.error(
      'usage: node scripts/digests.js FOLDER [PATH...]\n       node scripts/digests.js --check FOLDER DIGESTS',
    )
    process.exitCode = 2
  }
}
