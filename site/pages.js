// Maps files of the repository to pages of the site, and their links to links of the site. The files themselves are not
// changed, because their links must work on GitHub too.

import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const GITHUB = 'https://github.com/flakeforge/flakeforge'

const filesIn = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true }).map((name) => name.replaceAll('\\', '/'))

/** The guides, as paths in docs/. The list of guides and the map are only for readers of the repository. */
export const GUIDES = filesIn('docs').filter((name) => name.endsWith('.md') && !['README.md', 'map.md'].includes(name))
const EXAMPLES = filesIn('examples')
  .filter((name) => path.posix.basename(name) === 'README.md')
  .map((name) => [`examples/${name}`, path.posix.join('examples', path.posix.dirname(name), 'index.md')])

/** A guide with a folder of more pages is the folder's index: not every server prefers `databases.html` to `databases/`. */
const pageOfGuide = (name) => {
  const folder = name.replace(/\.md$/, '/')
  return GUIDES.some((other) => other.startsWith(folder)) ? `${folder}index.md` : name
}
const pagesOfGuides = GUIDES.map((name) => [`docs/${name}`, pageOfGuide(name)])

/** The page of each file: from a path in the repository to a path on the site. */
const PAGES = new Map([['README.md', 'index.md'], ['CHANGELOG.md', 'changelog.md'], ...pagesOfGuides, ...EXAMPLES])

/** Whether VitePress reads a file: the pages above, and the API pages that write-api.js wrote to site/api. */
export const isPage = (file) => PAGES.has(file) || file.startsWith('site/api/')

export const pageOf = (file) => PAGES.get(file) ?? file.replace('site/api/', 'api/')

/**
 * Converts a link for the site: to a page of the site, or to the file on GitHub.
 * @param {string} from the file with the link, as a path in the repository
 * @throws if neither exists
 */
export function linkOnSite(href, from) {
  if (/^(?:[a-z]+:|#)/i.test(href)) return href
  const [, to, anchor = ''] = /^([^#]*)(#.*)?$/.exec(href)
  const file = path.posix.join(path.posix.dirname(from), decodeURI(to)).replace(/\/$/, '')
  const page = [file, `${file}/README.md`].find(isPage)
  if (page !== undefined) return `/${pageOf(page)}${anchor}`
  const local = path.join(root, file)
  if (!existsSync(local)) throw new Error(`${from} links to ${href}, which does not exist`)
  return `${GITHUB}/${statSync(local).isDirectory() ? 'tree' : 'blob'}/main/${file}${anchor}`
}
