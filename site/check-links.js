// Follows every link of the built site to its page and its anchor, and refuses resources that a page would fetch from another
// site. It does not follow links to other sites.

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'node-html-parser'

const ORIGIN = 'https://site.invalid'
const FETCHED = [
  'script[src]',
  'img[src]',
  'iframe[src]',
  'source[src]',
  'link[rel=stylesheet][href]',
  'link[rel=preload][href]',
  'link[rel=modulepreload][href]',
]

/** The pages of a folder, by their address without `.html`: the parsed HTML and its anchors. */
function readPages(folder, base) {
  const names = readdirSync(folder, { recursive: true }).map((name) => name.replaceAll('\\', '/'))
  const pages = names.filter((name) => name.endsWith('.html') && name !== '404.html')
  return new Map(
    pages.map((name) => {
      const html = parse(readFileSync(path.join(folder, name), 'utf8'))
      const address = base + name.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')
      return [address, { html, ids: new Set(html.querySelectorAll('[id]').map((each) => each.id)) }]
    }),
  )
}

/** The fault of a link; undefined if its target exists. */
function fault(href, address, pages) {
  const url = new URL(href, ORIGIN + address)
  if (url.origin !== ORIGIN) return undefined
  const page = pages.get(url.pathname)
  if (page === undefined) return `${href}: no such page`
  const anchor = decodeURIComponent(url.hash.slice(1))
  if (anchor !== '' && !page.ids.has(anchor)) return `${href}: the page has no such anchor`
}

/** The faults in the links of a built site, one line each; throws if it found too few links to be the whole site. */
export function faultsOf(folder, base) {
  const pages = readPages(folder, base)
  const faults = []
  let links = 0
  for (const [address, { html }] of pages) {
    for (const link of html.querySelectorAll('main a[href], aside a[href], nav a[href]')) {
      links++
      const wrong = fault(link.getAttribute('href'), address, pages)
      if (wrong !== undefined) faults.push(`${address} links to ${wrong}`)
    }
    for (const each of html.querySelectorAll(FETCHED.join(', '))) {
      const url = each.getAttribute('src') ?? each.getAttribute('href')
      if (new URL(url, ORIGIN).origin !== ORIGIN) faults.push(`${address} fetches ${url}`)
    }
  }
  if (pages.size < 20 || links < 500) throw new Error(`only ${links} links on ${pages.size} pages in ${folder}`)
  return { faults: [...new Set(faults)], pages: pages.size, links }
}
