// Builds the documentation site into target/site, and checks it: `npm run docs` in the repository.
//
// It runs npm ci in this folder, writes the API pages from the types, runs VitePress (which refuses links to missing pages),
// builds the inspector, which is the server's page without its live half, and checks every link and anchor of the result.

import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
process.chdir(here)

/** Whether node_modules matches the lock file. */
function isInstalled() {
  const [wanted, found] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
    existsSync(name) ? JSON.parse(readFileSync(name, 'utf8')).packages : {},
  )
  const versions = Object.entries(found).map(([name, { version }]) => wanted[name]?.version === version)
  return versions.length > 0 && versions.every(Boolean) && 'node_modules/vitepress' in found
}

if (!isInstalled()) {
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

// These need the packages, which are installed only now.
const { writeMap } = await import('../scripts/map/index.js')
const { writeApi } = await import('./write-api.js')
const { build } = await import('vitepress')
const { faultsOf } = await import('./check-links.js')
const { default: config } = await import('./.vitepress/config.js')
const { buildPage } = await import('../scripts/page/build.js')
const esbuild = await import('esbuild')

await writeMap()
await writeApi()
await build(here)
const folder = path.join(here, config.outDir)
copyFileSync('../packages/server/page/icon.svg', path.join(folder, 'logo.svg'))
copyFileSync('hero.svg', path.join(folder, 'hero.svg'))
await buildPage(esbuild, path.join(folder, 'inspector'), { isLive: false })
const { faults, pages, links } = faultsOf(folder, config.base)
for (const each of faults) console.error(each)
console.log(`${pages} pages, ${links} links, ${faults.length} broken`)
process.exitCode = faults.length === 0 ? 0 : 1
