'use strict'

// The changes of a release in CHANGELOG.md: the entries under [Unreleased] get a heading with the version and the date,
// and the links at the end of the file, one for each version, are updated.

const HEADING = /^## \[([^\]]+)\]/gm
const UNRELEASED = '## [Unreleased]\n'

/** The entries since the last release; an error if there are none. */
function unreleased(changelog) {
  const [, rest] = changelog.split(UNRELEASED)
  if (rest === undefined) throw new Error("CHANGELOG.md has no heading '## [Unreleased]'")
  const [entries] = rest.split(/^## \[|^\[[^\]]+\]: /m)
  if (!/^- /m.test(entries)) throw new Error('CHANGELOG.md has nothing under [Unreleased]: write what has changed')
  return entries
}

/** A link for each heading: the changes between a version and the one before it. */
function linksOf(changelog, repository) {
  const versions = [...changelog.matchAll(HEADING)].map(([, version]) => version)
  const tag = (version) => (version === 'Unreleased' ? 'HEAD' : `v${version}`)
  return versions.map((version, i) => {
    const before = versions[i + 1]
    const page = before ? `compare/${tag(before)}...${tag(version)}` : `releases/tag/${tag(version)}`
    return `[${version}]: ${repository}/${page}\n`
  })
}

/**
 * @param {string} changelog the text of CHANGELOG.md
 * @param {{ version: string, date: string, repository: string }} release `repository` is its address on the web
 */
function releasedChangelog(changelog, { version, date, repository }) {
  unreleased(changelog)
  const dated = changelog.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${date}\n`)
  const withoutLinks = dated.replace(/^\[[^\]]+\]: .*\n?/gm, '').trimEnd()
  return `${withoutLinks}\n\n${linksOf(dated, repository).join('')}`
}

module.exports = { releasedChangelog, unreleased }
