// The page: starts the inspector and, if a server is behind the page, the live half. Its Content-Security-Policy allows
// only its own files and that server.

import { byId, goTo, say } from './dom.mjs'
import { setNames, startInspector } from './inspect.mjs'
import { setLiveNames, startLive } from './live.mjs'
import { choiceOfName } from './reading.mjs'
import { hasToken, onChange, useToken, watchServer } from './server.mjs'
import { setGroups, setPresent, startSlots } from './slots.mjs'

const WORDS = {
  ready: 'The server generates IDs',
  unready: 'The server is not ready',
  gone: 'The server does not respond',
  token: 'The server requires a token',
}
const TROUBLE = {
  unready: 'It responds, but cannot generate IDs at the moment.',
  gone: 'The page keeps retrying, and resumes once the server is back. The inspector works without it.',
}

const layoutsOf = (names) => names.filter(({ kind }) => kind === 'group').map(choiceOfName)

function useNames(names) {
  const layouts = layoutsOf(names)
  setNames(layouts)
  setLiveNames(names.map(({ name }) => ({ name, layout: layouts.find((each) => each.name === name)?.layout })))
  setGroups(layouts.map(({ name }) => name))
}

let known = '' // the displayed names

function showState(state, detail) {
  const pill = byId('state')
  pill.dataset.state = state
  say(pill, WORDS[state])
  const trouble = byId('trouble')
  trouble.hidden = TROUBLE[state] === undefined
  say(byId('trouble-title'), WORDS[state])
  say(byId('trouble-text'), [detail, TROUBLE[state]].filter(Boolean).join(' '))
  byId('token-form').hidden = state !== 'token'
  if (state === 'token' && detail !== '') say(byId('token-text'), `The server rejected this token: ${detail}`)
  byId('forget').hidden = !hasToken()
  byId('openapi').hidden = hasToken() || state === 'token' // a link has no token
}

function follow(state, detail, names) {
  showState(state, detail)
  const text = JSON.stringify(names)
  if (names !== undefined && text !== known) {
    known = text
    useNames(names)
  }
  setPresent(names !== undefined)
}

function startToken() {
  byId('token-form').addEventListener('submit', (event) => {
    event.preventDefault()
    const field = byId('token')
    if (field.value.trim() === '') return field.focus()
    useToken(field.value.trim())
    field.value = ''
  })
  byId('forget').addEventListener('click', () => {
    useToken('')
    location.reload()
  })
}

/** Handles the links within the page here, so that they do not replace the hash, which holds the ID. */
function startSkips() {
  for (const link of document.querySelectorAll('[data-skip]')) {
    link.addEventListener('click', (event) => {
      event.preventDefault()
      goTo(byId(link.getAttribute('href').slice(1)))
    })
  }
}

startSkips()
startInspector()
if (byId('live') !== undefined) {
  startLive()
  startSlots()
  startToken()
  onChange(follow)
  watchServer()
}
