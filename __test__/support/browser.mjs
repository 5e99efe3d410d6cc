// Debian's Chromium, driven by playwright-core, and axe-core in it. Where there is none, the tests are skipped loudly;
// where servers are required, that is a failure. A browser is never downloaded.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { wantProgram } from '../servers/server.mjs'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']

/** A Chromium; undefined where none is installed. */
export async function launchBrowser() {
  const program = wantProgram('chromium')
  if (program === undefined) return undefined
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: program, args: FLAGS })
}

/**
 * The findings of axe-core, a line for each: all of its rules, or only some.
 * @param {import('playwright-core').Page} page
 * @param {string[]} [rules]
 */
export async function faultsByAxe(page, rules) {
  await page.evaluate(`window.axe === undefined && (() => { ${AXE} })()`)
  const { violations, passes } = await page.evaluate(
    (only) => globalThis.axe.run(only === undefined ? {} : { runOnly: only }),
    rules,
  )
  if (passes.length === 0) throw new Error('axe-core has looked at nothing')
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}
