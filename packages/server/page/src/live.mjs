// IDs being generated: requests a few at a time while the page is visible. They are real IDs, so the page takes none before
// Start, and none in a hidden tab.

import { byId, el, option, say, setOptions } from './dom.mjs'
import { linkTo } from './link.mjs'
import { rowOf } from './reading.mjs'
import { ask, NoAnswer } from './server.mjs'

const ROWS = 12
const STEPS = 2 // requests per second, at most
const WAIT_MS = 2000 // after an error without retryAfterMs

const shown = {}
let names = []
let run // the current run; undefined when stopped

const chosen = () => names.find(({ name }) => name === shown.name.value)

function rowOfId({ id, time, node, counter }, { name, layout }) {
  const link = el('a', { href: linkTo(id, layout === undefined ? '' : `name ${name}`) }, id)
  const cells = [time, node, counter].map((text) => el('td', { role: 'cell' }, text))
  return el('tr', { role: 'row' }, el('th', { role: 'rowheader', scope: 'row' }, link), ...cells)
}

function showIds(ids, from) {
  const newest = ids.slice(-ROWS).reverse()
  shown.rows.prepend(...newest.map((id) => rowOfId(rowOf(id, from.layout), from)))
  while (shown.rows.children.length > ROWS) shown.rows.lastElementChild.remove()
  run.made += ids.length
  shown.table.hidden = false
  shown.count.hidden = false
  say(shown.count, `${run.made.toLocaleString('en-GB')} ${run.made === 1 ? 'ID' : 'IDs'} generated`)
}

/** Sends one request; resolves to the ms to wait before the next. */
async function step({ from, rate, signal }) {
  const every = Math.max(1000 / STEPS, 1000 / rate)
  const started = performance.now()
  try {
    const { ids } = await ask(`v1/ids/${encodeURIComponent(from.name)}?n=${Math.round((rate * every) / 1000)}`, {
      method: 'POST',
      signal,
    })
    if (signal.aborted) return 0 // these IDs were generated, but the run has ended
    showIds(ids, from)
    say(shown.status, `Generating IDs of ${from.name}.`)
    return Math.max(0, every - (performance.now() - started))
  } catch (error) {
    if (signal.aborted) return 0
    if (error.status === 401) stop('Stopped: the server requires a token.')
    else if (error instanceof NoAnswer) say(shown.status, 'Waiting for the server.')
    else say(shown.status, `No IDs at the moment: ${error.message}`)
    return error.retryAfterMs ?? WAIT_MS
  }
}

/** Waits; resolves early if the signal aborts. */
const pause = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

const seen = () =>
  new Promise((resolve) => {
    if (!document.hidden) return resolve()
    document.addEventListener('visibilitychange', resolve, { once: true })
  })

async function make(work) {
  while (!work.signal.aborted) {
    await seen()
    if (work.signal.aborted) return
    await pause(await step(work), work.signal)
  }
}

function start() {
  const control = new AbortController()
  run = { from: chosen(), rate: Number(shown.rate.value), made: 0, signal: control.signal, control }
  shown.rows.replaceChildren()
  shown.table.hidden = true
  shown.count.hidden = true
  shown.table.classList.toggle('plain', run.from.layout === undefined)
  say(shown.button, 'Stop')
  make(run)
}

function stop(why = 'Stopped.') {
  run?.control.abort()
  run = undefined
  say(shown.button, 'Start')
  say(shown.status, why)
}

/** Applies another name or rate to a run in progress. */
function restart() {
  if (run === undefined) return
  stop()
  start()
}

/**
 * Sets the names that the server generates IDs for.
 * @param {{ name: string, layout?: object }[]} given `layout`: the codec's; missing for a segment
 */
export function setLiveNames(given) {
  names = given
  setOptions(
    shown.name,
    names.map(({ name }) => option(name, name)),
  )
  shown.button.disabled = names.length === 0
  if (run !== undefined && chosen()?.name !== run.from.name) stop(`Stopped: the server no longer has ${run.from.name}.`)
}

/** Connects the controls. */
export function startLive() {
  const parts = ['name', 'rate', 'button', 'status', 'count', 'table', 'rows']
  for (const part of parts) shown[part] = byId(`live-${part}`)
  shown.button.addEventListener('click', () => (run === undefined ? start() : stop()))
  shown.name.addEventListener('change', restart)
  shown.rate.addEventListener('change', restart)
}
