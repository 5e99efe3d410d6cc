// The page of flakeforge-server for its tests: opens it in a tab, reads its contents, and checks them. Also serves the
// documentation's inspector, which is the same page without its live half.

import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import esbuild from 'esbuild'
import { freshFolder } from '../servers/server.mjs'
import { faultsByAxe } from './browser.mjs'
import { once } from './waits.mjs'

const page = createRequire(import.meta.url)('../../scripts/page/build.js')
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }
const WIDE = { width: 1100, height: 900 }

/** Builds the page for the server. */
export const buildForServer = () => page.buildPage(esbuild, page.BUILT)

/**
 * Opens an address in a separate tab. `faults` has the messages of the console, and `asked` the requests.
 * @param {{ token?: string }} options and those of a browser's context
 */
export async function openPage(t, browser, url, { token, ...options } = {}) {
  const context = await browser.newContext({ viewport: WIDE, ...options })
  t.teardown(() => context.close())
  if (token) await context.addInitScript((text) => sessionStorage.setItem('flakeforge token', text), token)
  const opened = Object.assign(await context.newPage(), { faults: [], asked: [] })
  opened.on('pageerror', (error) => opened.faults.push(String(error.stack)))
  opened.on('console', (message) => {
    if (!/Failed to load resource/.test(message.text())) opened.faults.push(message.text()) // caused by a server that is down
  })
  opened.on('request', (request) => opened.asked.push(request))
  await opened.goto(url)
  return opened
}

export const isReady = (opened) => opened.waitForSelector('#state[data-state=ready]')
export const hashOf = (opened) => opened.evaluate(() => location.hash)
export const focusOf = (opened) => opened.evaluate(() => document.activeElement.id)
export const textOf = (opened, selector) => opened.locator(selector).innerText()
export const textsOf = (opened, selector) => opened.locator(selector).allInnerTexts()

/** Waits until an element has this text. */
export const untilSaid = (opened, selector, text) =>
  opened.waitForFunction(([where, wanted]) => document.querySelector(where).textContent === wanted, [selector, text])

/** The table of the fields, as a screen reader reads it: name, bits with digits, value. */
export const fieldsOf = (opened) =>
  opened
    .locator('#parts tr')
    .evaluateAll((rows) => rows.map((row) => [...row.cells].slice(0, 3).map((cell) => cell.textContent)))

/** The forms of the shown ID, by their names. */
export async function formsOf(opened) {
  const rows = await opened
    .locator('#forms > div')
    .evaluateAll((all) => all.map((row) => [row.firstChild.textContent, row.querySelector('code').textContent]))
  return Object.fromEntries(rows)
}

/** Axe finds nothing, in light and in dark mode; nothing is wider than the page; and the console is silent. */
export async function isSound(t, opened) {
  t.deepEqual(await faultsByAxe(opened), [])
  await opened.emulateMedia({ colorScheme: 'dark' })
  t.deepEqual(await faultsByAxe(opened, ['color-contrast']), [], 'in dark mode')
  await opened.emulateMedia({ colorScheme: 'light' })
  const [wide, has] = await opened.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  t.true(wide <= has, `the page is ${wide} px wide, and the screen ${has}`)
  t.deepEqual(opened.faults, [])
}

/**
 * The documentation's inspector, as GitHub Pages serves it: in a folder, without headers of ours. Returns its address.
 */
export async function serveInspector(t) {
  const folder = await freshFolder('inspector')
  await page.buildPage(esbuild, folder, { isLive: false })
  const http = createServer(async ({ url }, response) => {
    const name = url.slice('/docs/inspector/'.length) || 'index.html'
    response.writeHead(200, { 'content-type': TYPES[extname(name)] }).end(await readFile(join(folder, name)))
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  t.teardown(async () => {
    http.close()
    http.closeAllConnections()
    await rm(folder, { recursive: true })
  })
  return `http://127.0.0.1:${http.address().port}/docs/inspector/`
}
