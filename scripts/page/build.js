'use strict'

// Builds the page that flakeforge-server serves, and the documentation's inspector, which is the same page without its live
// half: one file each of HTML, CSS and JavaScript, and the icon. `npm run page:build` writes packages/server/page/built. The
// inspector is also built without header and footer, for a page that has its own.
//
// Each file is replaced in one step, because a server may be serving it at that moment.

const fs = require('node:fs')
const path = require('node:path')

const SOURCES = path.join(__dirname, '..', '..', 'packages', 'server', 'page')
const BUILT = path.join(SOURCES, 'built')

/** The documentation is served without our headers, so the policy is in the page. */
const POLICY =
  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self'; base-uri 'none'; form-action 'none'\">"

const sourceOf = (name) => fs.readFileSync(path.join(SOURCES, name), 'utf8')

/** The HTML without the parts of other pages: `<!-- alone -->…<!-- /alone -->`, `<!-- live -->…<!-- /live -->`, `<!-- site … /site -->`. */
function html({ isLive, isEmbedded = false }) {
  const alone = isEmbedded ? / *<!-- alone -->.*?<!-- \/alone -->\n/gs : / *<!-- \/?alone -->\n/g
  const source = sourceOf('index.html').replaceAll(alone, '')
  if (isLive) return source.replaceAll(/ *<!-- \/?live -->\n| *<!-- site .*? \/site -->\n/gs, '')
  return source
    .replaceAll(/ *<!-- live -->.*?<!-- \/live -->\n/gs, '')
    .replaceAll(/<!-- site (.*?) \/site -->/gs, '$1')
    .replace(/( *)<meta charset="utf-8">\n/, `$&$1${POLICY}\n`)
}

function write(folder, name, content) {
  const file = path.join(folder, name)
  const fresh = `${file}.${process.pid}`
  fs.writeFileSync(fresh, content)
  fs.renameSync(fresh, file)
}

/**
 * Writes the page into a folder.
 * @param {typeof import('esbuild')} esbuild
 * @param {string} folder
 * @param {{ isLive?: boolean }} options whether a server is behind the page
 */
async function buildPage(esbuild, folder, { isLive = true } = {}) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(SOURCES, 'src', 'page.mjs'), path.join(SOURCES, 'css', 'page.css')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral', // not 'browser', so that errors on the page have their full texts
    minify: true,
    legalComments: 'none',
    outdir: folder,
    entryNames: '[name]',
    write: false,
  })
  fs.mkdirSync(folder, { recursive: true })
  for (const file of outputFiles) write(folder, path.basename(file.path), file.text)
  write(folder, 'index.html', html({ isLive }))
  if (!isLive) write(folder, 'embedded.html', html({ isLive, isEmbedded: true }))
  write(folder, 'icon.svg', sourceOf('icon.svg'))
}

module.exports = { BUILT, buildPage }

if (require.main === module) buildPage(require('esbuild'), path.resolve(process.argv[2] ?? BUILT))
