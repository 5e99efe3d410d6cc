// The configuration of the site: its pages and its navigation. Pages fetch nothing from other servers: search and fonts are
// part of the site.

import { readdirSync } from 'node:fs'
import { slug } from 'github-slugger'
import { defineConfig } from 'vitepress'
import { navigation } from '../navigation.js'
import { isPage, linkOnSite, pageOf, root } from '../pages.js'

const HERE = 'site'
const BASE = '/flakeforge/' // as GitHub Pages serves a project

/** Everything except pages, so that VitePress does not search it for pages. */
const others = readdirSync(root)
  .filter((name) => !['docs', 'examples', HERE].includes(name) && !isPage(name))
  .flatMap((name) => [name, `${name}/**`])

/** Converts links to files of the repository to links of the site. */
function links(md) {
  md.core.ruler.push('links-on-site', ({ tokens, env }) => {
    if (env.realPath === undefined) return // the search index, which needs no links
    const from = env.realPath.slice(root.length)
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_open') token.attrSet('href', linkOnSite(token.attrGet('href'), from))
    }
  })
}

/** What the inspector on the first page shows until the reader enters another ID. */
const EXAMPLE = 'id=175928847299117063&amp;layout=discord'

/** Puts the inspector on the first page, after README's first screen. */
function inspector(md) {
  md.core.ruler.push('inspector', ({ tokens, env, Token }) => {
    if (env.realPath !== `${root}README.md`) return
    const at = tokens.findIndex(({ content }) => content === 'Which set-up') - 1 // the token before its text opens the heading
    if (at < 0) throw new Error('README.md has no section "Which set-up", which the inspector precedes')
    const frame = new Token('html_block', '', 0)
    frame.content = `<iframe class="inspector" title="Take an ID apart" src="${BASE}inspector/embedded.html#${EXAMPLE}"></iframe>\n`
    tokens.splice(at, 0, frame)
  })
}

/** README's heading, its first sentence and the command to install are in the hero of the first page. */
function noHeading(md) {
  md.core.ruler.push('no-heading', ({ tokens, env }) => {
    if (env.realPath !== `${root}README.md`) return
    const install = tokens.findIndex(({ type, content }) => type === 'fence' && content.trim() === HERO.install)
    if (tokens[0]?.tag !== 'h1' || install < 0)
      throw new Error(`README.md does not begin with its heading and '${HERO.install}', which the hero has`)
    tokens.splice(0, install + 1)
  })
}

/** What only the site shows of README, above its text. */
const HERO = {
  name: 'flakeforge',
  text: 'Unique 64-bit IDs that sort by time',
  tagline: 'For Node.js: they fit a bigint column and need no round trip',
  install: 'npm install flakeforge', // for the theme
  image: { src: '/hero.svg', alt: '' },
  actions: [
    { text: 'Get started', link: '/start/getting-started', theme: 'brand' },
    { text: 'Which ID fits', link: '/start/which-id', theme: 'alt' },
    { text: 'Many machines', link: '/store/choosing', theme: 'alt' },
  ],
}

function withHero(page) {
  if (page.relativePath !== 'index.md') return
  page.title = HERO.name
  Object.assign(page.frontmatter, { layout: 'home', hero: HERO, titleTemplate: HERO.text })
}

/** Turns empty header cells into data cells, because screen readers announce empty headers. */
function emptyHeaders(md) {
  md.core.ruler.push('empty-headers', ({ tokens }) => {
    for (const [i, { type, content }] of tokens.entries()) {
      if (type !== 'inline' || content !== '' || tokens[i - 1].type !== 'th_open') continue
      for (const each of [tokens[i - 1], tokens[i + 1]]) each.tag = 'td'
    }
  })
}

/** The pages are above the folder that has Vue. The renderer runs in this folder, and imports Vue from here. */
const vueFromHere = {
  name: 'vue-from-here',
  enforce: 'pre',
  resolveId: (id, _from, { ssr }) => (ssr && /^vue(?:\/|$)/.test(id) ? { id, external: true } : undefined),
}

export default defineConfig({
  title: 'flakeforge',
  description: 'Unique 64-bit IDs, ordered by time, generated without a round trip per ID',
  base: BASE,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}logo.svg` }]],
  appearance: 'force-auto', // the system's theme: pictures and the inspector support no other
  cleanUrls: true,
  srcDir: '..',
  srcExclude: [...others, 'docs/README.md', 'docs/map.md'],
  rewrites: pageOf,
  transformPageData: withHero,
  outDir: '../target/site',
  cacheDir: '../target/site-cache',
  markdown: {
    anchor: { slugify: (text) => slug(text) }, // as on GitHub, so that anchors work in both places
    config: (md) => void [links, inspector, noHeading, emptyHeaders].map((rule) => rule(md)),
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: { plugins: [vueFromHere], build: { assetsInlineLimit: 0 } },
  themeConfig: {
    ...navigation,
    logo: '/logo.svg', // build.js puts it there
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: 'https://github.com/flakeforge/flakeforge' }],
  },
})
