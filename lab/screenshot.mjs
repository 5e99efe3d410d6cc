// Takes docs/service/page.png, the screenshot of the page in README: `npm run page:screenshot`. It needs Chromium and Redis, as
// the tests do, and shows a real server with two more members of its group.

import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'
import FlakeId from 'flakeforge'
import { startServer } from '../__test__/servers/flakeforge.mjs'
import { startRedis } from '../__test__/servers/redis.mjs'
import { freshFolder } from '../__test__/servers/server.mjs'
import { launchBrowser } from '../__test__/support/browser.mjs'

const require = createRequire(import.meta.url)
const { BUILT, buildPage } = require('../scripts/page/build.js')
const FILE = fileURLToPath(new URL('../docs/service/page.png', import.meta.url))
const MOST_BYTES = 250_000
const SIZE = { width: 960, height: 900 }

/** Joins another member of the group, as from another machine. */
const join = (url, host) => FlakeId.join(url, { group: 'orders', durable: true, host })

async function takePicture(page, url) {
  await page.goto(url)
  await page.waitForSelector('#slots-rows tr:nth-child(3)')
  await page.selectOption('#live-rate', '1')
  await page.click('#live-button')
  await page.waitForSelector('#live-rows tr:nth-child(3)')
  await page.click('#live-rows tr a')
  await page.evaluate(() => {
    document.activeElement.blur()
    scrollTo(0, 0)
  })
  mkdirSync(new URL('../docs/service/', import.meta.url), { recursive: true })
  writeFileSync(FILE, await page.screenshot({ fullPage: true, animations: 'disabled' }))
}

/** Writes the server's configuration to a new folder. */
async function configured() {
  const folder = await freshFolder('screenshot')
  const names = { orders: { group: 'orders', durable: true, host: 'ids-1' } }
  const file = path.join(folder, 'config.json')
  await writeFile(file, JSON.stringify({ names }))
  return { folder, file }
}

/** Starts everything in the picture, takes the screenshot, and stops everything. */
async function main(browser) {
  const ends = []
  try {
    await buildPage(esbuild, BUILT)
    const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always')
    ends.push(() => redis.stop())
    for (const host of ['web-1', 'web-2']) {
      const member = await join(redis.url, host)
      ends.push(() => member.close())
    }
    const { folder, file } = await configured()
    ends.push(() => rm(folder, { recursive: true }))
    const server = await startServer({
      args: ['--config', file, '--max-delay-ms', '0'],
      env: { FLAKEFORGE_STORE: redis.url },
    })
    ends.push(() => server.stop())
    await takePicture(await browser.newPage({ viewport: SIZE, colorScheme: 'light' }), server.url)
  } finally {
    for (const end of ends.reverse()) await end()
    await browser.close()
  }
}

const browser = await launchBrowser()
if (browser === undefined) throw new Error('Chromium was not found. Install it (Debian: apt-get install chromium).')
await main(browser)
const { size } = statSync(FILE)
console.log(`${path.relative('', FILE)}: ${size} bytes`)
if (size > MOST_BYTES) throw new Error(`The screenshot has ${size} bytes. README allows at most ${MOST_BYTES}.`)
