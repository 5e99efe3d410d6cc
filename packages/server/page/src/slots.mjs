// The slots of a group, their holders and the ends of their windows, refreshed every few seconds while the tab is visible. If
// the server is gone, the last data stays, with its time.

import { byId, el, option, say, setOptions } from './dom.mjs'
import { ask, NoAnswer, serverNow } from './server.mjs'

const EVERY_MS = 3000
const MOST = 200 // rows
const MOST_PAGES = 20 // of the server's list

const shown = {}
let timer
let isPresent = false // whether the server responds
let heard // when it last answered

const clock = (ms) => new Date(ms).toISOString().slice(11, 19)

function leftText(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  if (seconds < 120) return `${seconds} s left`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min left` : `${Math.round(seconds / 3600)} h left`
}

/** A folder has no times: a slot is held as long as its process runs. */
function untilText(expires, now) {
  if (expires === undefined) return ['its process ends']
  const until = Date.parse(expires)
  const time = el('time', { datetime: new Date(until).toISOString(), class: 'digits' }, clock(until))
  return [time, ' ', el('span', { class: 'left' }, leftText(until - now))]
}

function rowOfSlot({ slot, host, expires, mine }, now) {
  const holder = el('td', {}, el('span', { class: 'host' }, host === '' || host == null ? 'unnamed' : host))
  if (mine) holder.append(' ', el('span', { class: 'badge' }, 'this server'))
  return el(
    'tr',
    {},
    el('th', { scope: 'row', class: 'digits' }, String(slot)),
    holder,
    el('td', {}, ...untilText(expires, now)),
  )
}

function summary(held, free, isCut) {
  const slots = held === 1 ? '1 slot is in use' : `${held} slots are in use`
  const more = held > MOST ? ` The first ${MOST} are shown.` : ''
  const before = free === 0 ? '' : `, ${free} ${free === 1 ? 'was' : 'were'} in use before`
  const cut = isCut ? ' The list is longer: these are its first slots.' : ''
  return `${slots}${before}.${more}${cut}`
}

function show({ slots, next }) {
  const now = serverNow()
  const held = slots.filter((each) => each.held).sort((a, b) => a.slot - b.slot)
  shown.rows.replaceChildren(...held.slice(0, MOST).map((each) => rowOfSlot(each, now)))
  shown.table.hidden = held.length === 0
  shown.table.classList.remove('stale')
  say(shown.status, summary(held.length, slots.length - held.length, next !== undefined))
}

/** Marks the displayed data as out of date. */
function showStale(why) {
  shown.table.classList.add('stale')
  const from = heard === undefined ? '' : ` Last updated at ${clock(heard)} UTC.`
  say(shown.status, `${why}${shown.table.hidden ? '' : from}`)
}

/** The slots of a group, and where the rest of a very long list begins. */
async function slotsOf(name) {
  const all = { slots: [], next: 0 }
  for (let pages = 0; pages < MOST_PAGES && all.next !== undefined; pages++) {
    const { slots, next } = await ask(`v1/slots/${encodeURIComponent(name)}?from=${all.next}`)
    all.slots.push(...slots)
    all.next = next
  }
  return all
}

/** Refreshes once, and schedules the next time. */
async function refresh() {
  clearTimeout(timer)
  const name = shown.name.value
  if (name === '' || !isPresent || document.hidden) return
  try {
    const answer = await slotsOf(name)
    if (name !== shown.name.value) return // another name was selected, and its answer is on the way
    heard = serverNow()
    show(answer)
  } catch (error) {
    if (error instanceof NoAnswer) return // setPresent() shows this
    showStale(`The slots are unknown: ${error.message}`)
  }
  clearTimeout(timer)
  timer = setTimeout(refresh, EVERY_MS)
}

/** Sets whether the server responds. */
export function setPresent(is) {
  isPresent = is
  if (is) refresh()
  else showStale('The server does not respond.')
}

/** Sets the names that are groups. */
export function setGroups(names) {
  setOptions(
    shown.name,
    names.map((name) => option(name, name)),
  )
  if (names.length === 0) {
    shown.table.hidden = true
    say(shown.status, 'This server serves no group, and only groups have slots.')
  } else refresh()
}

/** Connects the controls. */
export function startSlots() {
  for (const part of ['name', 'status', 'table', 'rows']) shown[part] = byId(`slots-${part}`)
  shown.name.addEventListener('change', () => {
    shown.table.hidden = true
    say(shown.status, '')
    refresh()
  })
  document.addEventListener('visibilitychange', refresh)
}
