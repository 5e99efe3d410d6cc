// The page of flakeforge-server in a real Chromium, in front of a real server: its views of an ID, of IDs being
// generated, of slots and of a server that is down, and that it works by keyboard, on a phone, in dark mode and by
// screen reader. One Chromium and one server serve the whole file, so the tests run one after the other.

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { freshFolder } from '../servers/server.mjs'
import { faultsByAxe, launchBrowser } from '../support/browser.mjs'
import { dialect } from '../support/dialects.mjs'
import { FlakeId } from '../support/index.mjs'
import {
  buildForServer,
  fieldsOf,
  focusOf,
  formsOf,
  hashOf,
  isReady,
  isSound,
  openPage,
  serveInspector,
  textOf,
  textsOf,
  untilSaid,
} from '../support/page.mjs'
import { stopProcess } from '../support/stop-process.mjs'

const { layouts, format, toBigInt } = FlakeId

const TOKEN = 'a-token-for-the-page'
const SHARDS = {
  name: 'shards',
  epoch: 1577836800000,
  fields: Object.entries({ timestamp: 41, shard: 13, counter: 10 }),
}
const OFFSET = '1000000007'
const NAMES = {
  orders: { group: 'orders', layout: 'flake' },
  moved: { group: 'moved', layout: 'twitter', idOffset: OFFSET },
  shards: { group: 'shards', layout: SHARDS },
  invoices: { segment: 'invoices', block: 1000 },
}
const ID = 7529535382557454337n // of flake: datacenter 9, worker 7, counter 1

const browser = await launchBrowser()
const when = browser === undefined ? test.skip : test.serial
let folder
let args
let server

test.before(async () => {
  if (browser === undefined) return
  await buildForServer()
  folder = await freshFolder('page')
  await writeFile(join(folder, 'config.json'), JSON.stringify({ names: NAMES }))
  await writeFile(join(folder, 'tokens'), `${TOKEN}\n`, { mode: 0o600 })
  const files = ['--config', join(folder, 'config.json'), '--token-file', join(folder, 'tokens')]
  args = [...files, '--max-delay-ms', '0'] // a busy machine is no reason to refuse
  server = await startServer({ args })
})

test.after.always(async () => {
  await browser?.close()
  server?.child.kill('SIGCONT')
  await server?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

/** Opens the page, with the token unless told otherwise. */
const open = (t, hash = '', options = {}) => openPage(t, browser, `${server.url}/${hash}`, { token: TOKEN, ...options })

/** The server's answer to a client with a token. */
async function ask(path) {
  const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })
  return response.json()
}

when('an ID in every form is the same ID', async (t) => {
  const page = await open(t)
  await isSound(t, page)
  const texts = {
    auto: [String(ID), `0x${format(ID, 'hex')}`, format(ID, 'hex'), `0b${format(ID, 'bin')}`, format(ID, 'bin')],
    dec: [String(ID)],
    hex: [`0x${format(ID, 'hex')}`, format(ID, 'hex').toUpperCase()],
    bin: [format(ID, 'bin')],
    uuid: [layouts.flake.toUuid(ID)],
  }
  for (const base of ['base32', 'base36', 'base58', 'base62']) texts[base] = [format(ID, base)]
  for (const base of ['dec', 'hex', 'base32', 'base58']) texts[base].push(format(ID, base, { prefix: 'ord_' }))
  texts.auto.push(`ord_${ID}`, layouts.flake.toUuid(ID), 'aH5IiYkScAE=', '<Buffer 68 7e 48 89 89 12 70 01>')
  for (const [form, list] of Object.entries(texts)) {
    await page.selectOption('#form', form)
    for (const text of list) {
      await page.fill('#id', '')
      await page.fill('#id', text)
      t.is(await textOf(page, '#id-fault'), '', `${form} ${text}`)
      t.is((await formsOf(page)).Decimal, String(ID), `${form} ${text}`)
    }
  }
  const bases = Object.fromEntries([32, 36, 58, 62].map((n) => [`Base ${n}`, format(ID, `base${n}`)]))
  const others = { Decimal: String(ID), Hex: `0x${format(ID, 'hex')}`, UUID: layouts.flake.toUuid(ID) }
  t.deepEqual(await formsOf(page), { ...others, ...bases })
  t.deepEqual(page.faults, [])
})

when('a form of the ID can be copied', async (t) => {
  const page = await open(t, `#id=${ID}`, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.click('button[aria-label="Copy Base 58"]')
  await untilSaid(page, '#said', 'Base 58 copied')
  t.is(await page.evaluate(() => navigator.clipboard.readText()), format(ID, 'base58'))
})

when('an ID in every layout: its fields, their bits and their meaning', async (t) => {
  const page = await open(t)
  for (const [name, layout] of Object.entries(layouts)) {
    const { counterBits, nodes } = dialect(name)
    const others = { id: Math.min(37, nodes - 1), counter: Math.min(5, 2 ** counterBits - 1) }
    const id = toBigInt(layout.encode({ timestamp: Date.UTC(2026, 10, 20, 13, 25, 27, 204), ...others }))
    const parts = layout.decode(id)
    await page.selectOption('#layout', name)
    await page.fill('#id', String(id))
    t.is(await textOf(page, '#result-title'), name)
    t.true((await textOf(page, '#when')).startsWith(parts.date.toISOString().slice(0, -1).replace('T', ' ')), name)
    const fields = await fieldsOf(page)
    const digits = fields.map(([, bits]) => bits.split(': ')[1]).join('')
    t.is(digits, layout.fields.length === 0 ? String(id) : format(id, 'bin'), name)
    for (const [field, , value] of fields) {
      const wanted = { timestamp: parts.tick, zero: 0 }[field] ?? parts[field]
      t.is(value, String(wanted), `${name}: ${field}`)
    }
    const names = layout.fields.length === 0 ? ['timestamp', 'host'] : layout.fields.map(([field]) => field)
    t.deepEqual(
      fields.map(([field]) => field),
      names,
    )
    t.deepEqual((await textsOf(page, '#strip .strip-digits')).join('').replaceAll('\u200b', ''), digits)
  }
  t.deepEqual(page.faults, [])
  await isSound(t, page)
})

when('the possible layouts: the most plausible first, and the others at a click', async (t) => {
  const page = await open(t)
  await isReady(page)
  await page.fill('#id', '175928847299117063')
  t.is(await textOf(page, '#result-title'), 'discord (most plausible)')
  t.is(await textOf(page, '#when'), '2016-04-30 11:18:25.796 UTC')
  const likely = await textsOf(page, '#readings .reading-name')
  t.is(likely[0], 'discord')
  await page.click('#unlikely summary')
  const all = [...likely, ...(await textsOf(page, '#unlikely-readings .reading-name'))]
  t.deepEqual([...all].sort(), ['moved: twitter', 'shards', ...Object.keys(layouts)].sort())
  t.regex(await textOf(page, '#unlikely-readings'), /safe\s+its top 11 bits are always 0, and here they are not/)
  await isSound(t, page)
  await page.click('#readings button:has-text("hazelcast")')
  t.is(await textOf(page, '#result-title'), 'hazelcast')
  t.is(await page.inputValue('#layout'), 'hazelcast')
  t.is(await page.getAttribute('#readings [aria-pressed=true]', 'type'), 'button')
  t.regex(await textOf(page, '#readings [aria-pressed=true]'), /^hazelcast/)
  t.deepEqual(page.faults, [])
})

when('a layout with an offset: the fields are those before it', async (t) => {
  const page = await open(t)
  await isReady(page)
  const parts = { timestamp: Date.UTC(2026, 10, 20), datacenter: 9, worker: 7, counter: 1 }
  const plain = toBigInt(layouts.twitter.encode(parts))
  await page.fill('#id', String(plain + BigInt(OFFSET)))
  await page.selectOption('#layout', 'name moved')
  t.is(await textOf(page, '#when'), '2026-11-20 00:00:00.000 UTC')
  t.is((await fieldsOf(page)).map(([, bits]) => bits.split(': ')[1]).join(''), format(plain, 'bin'))
  t.regex(await textOf(page, '#id-hint'), /adds an offset to its IDs/)
  t.deepEqual(page.faults, [])
})

when('an invalid ID gets a sentence', async (t) => {
  const page = await open(t)
  const sentences = [
    ['auto', '', 'hello', /^'hello' is not an ID\. Give it as decimal, 0x or hex digits, .*\.$/],
    ['dec', '', '18446744073709551616', /^'18446744073709551616' is not an ID in dec\. .*64 bits at most\.$/],
    ['base58', '', 'JUiX7f71LW0', /^'JUiX7f71LW0' is not an ID in base58\. Give 11 characters, .*\.$/],
    ['auto', 'twitter', '18446744073709551615', /is not an ID of layout 'twitter': a bit that must be 0 is set.*\.$/],
    ['auto', '', '9b2b6a1e-5f0e-4c1b-9d39-8b1c5f0f3a11', /its version is 4, not 8.*\.$/],
    ['uuid', '', 'hello', /a UUID in the form .*\.$/],
    ['auto', '', '<img src=x onerror=alert(1)>', /^'<img src=x onerror=alert\(1\)>' is not an ID/],
  ]
  for (const [form, layout, text, wanted] of sentences) {
    await page.selectOption('#form', form)
    await page.selectOption('#layout', layout)
    await page.fill('#id', text)
    t.regex(await textOf(page, '#id-fault'), wanted)
    t.is(await page.getAttribute('#id', 'aria-invalid'), 'true')
    t.true(await page.isHidden('#result'))
    t.is(await hashOf(page), '')
  }
  await page.waitForFunction(() => document.querySelector('#said').textContent.includes('is not an ID'))
  await isSound(t, page)
  await page.selectOption('#form', 'auto')
  await page.fill('#id', '1')
  t.is(await textOf(page, '#id-fault'), '')
  t.is(await page.getAttribute('#id', 'aria-invalid'), null)
  t.deepEqual(page.faults, [])
})

when('a link has the ID and its layout', async (t) => {
  const page = await open(t, '#id=175928847299117063&layout=twitter')
  t.is(await textOf(page, '#result-title'), 'twitter')
  await page.selectOption('#layout', 'discord')
  t.is(await hashOf(page), '#id=175928847299117063&layout=discord')
  await page.fill('#id', `0x${format(ID, 'hex')}`)
  t.is(await hashOf(page), `#id=${ID}&layout=discord`)
  await page.evaluate((hash) => {
    location.hash = hash
  }, `#id=${ID}&name=shards`)
  await untilSaid(page, '#result-title', 'shards')
  t.is(await focusOf(page), 'result-title')
  await page.evaluate((hash) => {
    location.hash = hash
  }, `#id=${ID}&layout=orders`)
  await untilSaid(page, '#result-title', 'orders: flake')
  await page.fill('#id', '')
  t.is(await hashOf(page), '')
  const other = await open(t, `#id=${ID}&layout=nobody`)
  t.regex(await textOf(other, '#id-hint'), /The link names the layout 'nobody', which this page does not know\.$/)
  const spread = await open(t, `#id=${ID}&name=shards`)
  await untilSaid(spread, '#result-title', 'shards')
  t.deepEqual(
    (await fieldsOf(spread)).map(([field]) => field),
    ['timestamp', 'shard', 'counter'],
  )
  t.deepEqual([...page.faults, ...other.faults, ...spread.faults], [])
})

when('a link is followed, even if the page sets its own before it learns of the new one', async (t) => {
  const page = await open(t, `#id=${ID}&layout=flake`)
  await page.evaluate((hash) => {
    location.hash = hash
    document.querySelector('#id').dispatchEvent(new Event('input')) // as when the server's names arrive
  }, '#id=175928847299117063&layout=discord')
  await untilSaid(page, '#result-title', 'discord')
  t.is(await hashOf(page), '#id=175928847299117063&layout=discord')
})

/** The server's answer to a request of the page; nothing if Stop came first. */
async function idsOf(request) {
  const response = await request.response()
  const { ids = [] } = (await response?.json().catch(() => undefined)) ?? {}
  return ids
}

when('IDs being generated: as many as requested, until Stop; each can be inspected', async (t) => {
  const page = await open(t)
  await isReady(page)
  const made = () => page.asked.filter((request) => request.method() === 'POST')
  t.is(made().length, 0)
  await page.selectOption('#live-name', 'shards')
  await page.selectOption('#live-rate', '10')
  await page.click('#live-button')
  await page.waitForSelector('#live-rows tr:nth-child(12)')
  await isSound(t, page)
  t.is(await page.locator('#live [aria-live] tr, #live [role=status] tr, #live [aria-live] #live-count').count(), 0)
  await page.click('#live-button')
  t.is(await textOf(page, '#live-status'), 'Stopped.')
  const asked = made()
  t.deepEqual(new Set(asked.map((request) => request.url())), new Set([`${server.url}/v1/ids/shards?n=5`]))
  const ids = (await Promise.all(asked.map(idsOf))).flat()
  const shown = await textsOf(page, '#live-rows a')
  t.is(shown.length, 12)
  t.deepEqual(shown, ids.filter((id) => shown.includes(id)).reverse())
  const { fields } = await ask(`/v1/inspect/${shown[0]}?name=shards`)
  const nodes = await textsOf(page, '#live-rows td:nth-child(3)')
  t.deepEqual(new Set(nodes), new Set([String(fields.shard)]))
  await page.click('#live-rows tr:last-child a')
  await untilSaid(page, '#result-title', 'shards')
  t.is((await formsOf(page)).Decimal, shown.at(-1))
  t.is(await focusOf(page), 'result-title')
  t.is(made().length, asked.length, 'nothing is generated after Stop')
  t.deepEqual(page.faults, [])
})

when('a segment has numbers, and neither fields nor slots', async (t) => {
  const page = await open(t)
  await isReady(page)
  await page.selectOption('#live-name', 'invoices')
  await page.click('#live-button')
  await page.waitForSelector('#live-rows tr')
  t.true(await page.isHidden('#live-table th:nth-child(2)'))
  t.false((await textsOf(page, '#slots-name option')).includes('invoices'))
  t.deepEqual(await textsOf(page, '#slots-name option'), ['orders', 'moved', 'shards'])
  t.deepEqual(page.faults, [])
})

when('slots: their holders', async (t) => {
  const page = await open(t)
  await page.waitForSelector('#slots-rows tr')
  t.is(await textOf(page, '#slots-status'), '1 slot is in use.')
  const [row] = await textsOf(page, '#slots-rows tr')
  const { slots } = await ask('/v1/slots/orders')
  t.true(row.startsWith(String(slots[0].slot)), row)
  t.true(row.includes(slots[0].host) && row.includes('this server') && row.includes('its process ends'), row)
  await isSound(t, page)
})

when('the page asks for a token, and keeps it in this tab, and in no address', async (t) => {
  const page = await open(t, `#id=${ID}`, { token: '' })
  await page.waitForSelector('#token-form:visible')
  t.is(await textOf(page, '#state'), 'The server requires a token')
  t.is(await textOf(page, '#result-title'), 'flake (most plausible)')
  await isSound(t, page)
  await page.fill('#token', 'not-one-of-its-tokens')
  await page.press('#token', 'Enter')
  await page.waitForFunction(() => document.querySelector('#token-text').textContent.startsWith('The server rejected'))
  await page.fill('#token', TOKEN)
  await page.press('#token', 'Enter')
  await isReady(page)
  t.true(await page.isHidden('#token-form'))
  t.is(await page.inputValue('#token'), '')
  await page.reload()
  await isReady(page)
  t.false(page.asked.some((request) => `${request.url()}${request.postData() ?? ''}`.includes(TOKEN)))
  t.deepEqual(await page.evaluate(() => [localStorage.length, document.cookie]), [0, ''])
  await page.click('#forget')
  await page.waitForSelector('#token-form:visible')
  t.deepEqual(page.faults, [])
})

when('a server that stops is shown as such, and the page continues without help', async (t) => {
  const page = await open(t)
  await page.waitForSelector('#slots-rows tr')
  await page.click('#live-button')
  await page.waitForSelector('#live-rows tr')
  await stopProcess(server.child.pid)
  await page.waitForSelector('#state[data-state=gone]')
  t.is(await textOf(page, '#trouble-title'), 'The server does not respond')
  t.regex(await textOf(page, '#slots-status'), /^The server does not respond\. Last updated at \d\d:\d\d:\d\d UTC\.$/)
  await untilSaid(page, '#live-status', 'Waiting for the server.')
  await page.fill('#id', '175928847299117063')
  t.is(await textOf(page, '#result-title'), 'discord (most plausible)')
  await isSound(t, page)
  const before = await textOf(page, '#live-count')
  server.child.kill('SIGCONT')
  await isReady(page)
  t.true(await page.isHidden('#trouble'))
  await page.waitForFunction((text) => document.querySelector('#live-count').textContent !== text, before)
  await untilSaid(page, '#slots-status', '1 slot is in use.')
  t.deepEqual(page.faults, [])
})

when('a server that was killed and restarted: the page continues without help', async (t) => {
  const page = await open(t, `#id=${ID}`)
  await page.waitForSelector('#slots-rows tr')
  const { port } = server
  await server.stop()
  await page.waitForSelector('#state[data-state=gone]')
  t.true(await page.isVisible('#slots-table.stale'))
  await isSound(t, page)
  server = await startServer({ args, port })
  await isReady(page)
  await page.waitForSelector('#slots-table:not(.stale)')
  t.is(await textOf(page, '#result-title'), 'flake (most plausible)')
  t.deepEqual(page.faults, [])
})

when('everything works by keyboard: every control in the order of the page, with a visible focus', async (t) => {
  const page = await open(t, `#id=${ID}`)
  await page.waitForSelector('#slots-rows tr')
  const wanted = await page.evaluate(() =>
    [...document.querySelectorAll('a[href], button, input, select, summary')]
      .filter((each) => !each.disabled && each.checkVisibility())
      .map((each) => each.id || each.textContent || each.outerHTML),
  )
  const seen = []
  for (let i = 0; i < wanted.length; i++) {
    await page.keyboard.press('Tab')
    const { name, outline } = await page.evaluate(() => {
      const at = document.activeElement
      if (at === document.body) return { name: 'nothing' }
      return { name: at.id || at.textContent || at.outerHTML, outline: getComputedStyle(at).outlineStyle }
    })
    seen.push(name)
    t.true(outline !== undefined && outline !== 'none', name)
  }
  t.deepEqual(seen, wanted)
  await page.focus('.skip')
  await page.keyboard.press('Enter')
  t.is(await focusOf(page), 'inspect')
  await page.keyboard.press('Tab')
  t.is(await focusOf(page), 'id')
  await page.focus('#live-button')
  await page.keyboard.press('Enter')
  await page.waitForSelector('#live-rows tr')
  await page.keyboard.press('Space')
  t.is(await textOf(page, '#live-status'), 'Stopped.')
  await page.focus('#layout')
  await page.keyboard.type('twitter')
  t.is(await textOf(page, '#result-title'), 'twitter')
  t.deepEqual(page.faults, [])
})

when('on a phone of 320 px, with reduced motion and with forced colours', async (t) => {
  const page = await open(t, `#id=${ID}&layout=uniqueid`, {
    viewport: { width: 320, height: 640 },
    isMobile: true,
    hasTouch: true,
  })
  await page.waitForSelector('#slots-rows tr')
  await page.tap('#live-button')
  await page.waitForSelector('#live-rows tr')
  await page.tap('#unlikely summary')
  await isSound(t, page)
  await page.fill('#id', 'x'.repeat(200))
  await isSound(t, page)
  const animation = () => page.evaluate(() => getComputedStyle(document.querySelector('#live-rows tr')).animationName)
  t.is(await animation(), 'arrive')
  await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'active' })
  t.is(await animation(), 'none')
  t.deepEqual(await faultsByAxe(page), [])
})

when('the page needs only the server, and nothing can be added to it', async (t) => {
  const page = await open(t)
  await isReady(page)
  const asked = page.asked.map((request) => request.url())
  t.is(
    asked.find((url) => !url.startsWith(`${server.url}/`)),
    undefined,
  )
  const { headers } = await fetch(`${server.url}/`)
  t.regex(headers.get('content-security-policy'), /^default-src 'self';/)
  const script = page.evaluate(() => {
    document.createElement('script').textContent = 'window.wasRun = true'
  })
  await t.throwsAsync(script, { message: /TrustedScript/ })
  const looks = await page.evaluate(() => {
    document.body.setAttribute('style', 'display: none')
    return getComputedStyle(document.body).display
  })
  t.is(looks, 'block')
  t.is(page.faults.length, 2, 'Chromium says so')
  t.is(await page.locator('body [style], script:not([src])').count(), 0)
})

when('in the frame of another page, the inspector has no header and no footer', async (t) => {
  const url = await serveInspector(t)
  const page = await openPage(t, browser, `${url}embedded.html#id=175928847299117063&layout=discord`)
  t.is(await textOf(page, '#result-title'), 'discord')
  t.is(await page.locator('header, footer, nav, .brand, .skip').count(), 0)
  await isSound(t, page)
})

when("the documentation's inspector works without a server", async (t) => {
  const url = await serveInspector(t)
  const viewport = { width: 320, height: 640 }
  const page = await openPage(t, browser, `${url}#id=175928847299117063&layout=discord`, { viewport })
  t.is(await textOf(page, '#result-title'), 'discord')
  const fields = (await fieldsOf(page)).map(([name, , value]) => `${name} ${value}`)
  t.deepEqual(fields, ['timestamp 41944705796', 'worker 1', 'process 0', 'counter 7'])
  await isSound(t, page)
  t.is(await page.locator('#live, #slots, #token-form, #state').count(), 0)
  t.is(await page.getAttribute('nav a', 'href'), '../')
  t.is(
    page.asked.find((request) => !request.url().startsWith(url)),
    undefined,
  )
  for (const button of await page.locator('#examples button').all()) {
    await page.fill('#id', '')
    await button.click()
    t.true(await page.isVisible('#result'))
  }
  t.deepEqual(page.faults, [])
})
