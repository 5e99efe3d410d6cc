'use strict'

// A Redis client of our own for a URL, by whichever client package the user's project has.
// It must never load one before it is asked for: flakeforge depends on neither.

const { optionRangeError } = require('../../errors')
const { loadClient } = require('../versions')
const { withoutPassword } = require('../without-password')
const { ANSWER_MS, ScriptRunner, ioredisCalls, nodeRedisCalls } = require('./client')
const { isRefusedSelect } = require('./database')

const FORM = 'like redis://[user:password@]host[:6379][/N], where N is the number of the database'

function openIoredis({ Redis }, url) {
  // After a failover the old connection may lead to a replica, which never takes a write: a new one finds the primary.
  const reconnectOnError = (error) => error.message.startsWith('READONLY')
  // A step that finds no server fails after about a second: whoever asked knows better when to try again.
  // A connection that died without a word is given up with the step that got no answer; another one may work.
  const options = { lazyConnect: true, reconnectOnError, maxRetriesPerRequest: 5, socketTimeout: ANSWER_MS }
  const client = new Redis(url, options)
  // A lease does not keep a process alive; a step does, by its bound of time.
  client.on('connect', () => client.stream.unref())
  client.on('reconnecting', () => client.reconnectTimeout?.unref())
  // Only a new connection selects the database again.
  const onFailure = (error) => {
    if (isRefusedSelect(error)) client.disconnect(true)
  }
  return new ScriptRunner(client, ioredisCalls(client), { close: () => client.disconnect(), onFailure })
}

function openNodeRedis({ createClient }, url) {
  const client = createClient({ url })
  client.unref() // a lease does not keep a process alive; a step does, by its bound of time
  const calls = nodeRedisCalls(client)
  let connection
  let isClosed = false
  /** Connects at the first step, and at the next one where that failed. */
  async function connect() {
    connection ??= client.connect()
    try {
      await connection
    } catch (error) {
      connection = undefined
      throw error
    }
  }
  const evalSha = async (...args) => {
    if (!isClosed) await connect()
    return calls.evalSha(...args)
  }
  const end = () => (client.isOpen ? (client.destroy ?? client.disconnect).call(client) : undefined)
  // The connection may have died without a word: the next step makes another. (socketTimeout would end an idle one.)
  const onFailure = (error) => {
    if (error.code !== 'ETIMEDOUT' || !client.isReady) return
    connection = undefined
    Promise.resolve(end()).catch(() => {})
  }
  const close = () => {
    isClosed = true
    return end()
  }
  return new ScriptRunner(client, { ...calls, evalSha }, { close, onFailure })
}

/** What is no number would be another database for each package, or a crash; and only ioredis knows `?db=` and `?keyPrefix=`. */
function checkDatabase(url) {
  const { pathname, searchParams } = new URL(url)
  if (/^\/?\d*$/.test(pathname) && !searchParams.has('db') && !searchParams.has('keyPrefix')) return
  throw optionRangeError('store', withoutPassword(url), FORM)
}

const OPEN = { ioredis: openIoredis, redis: openNodeRedis }

/** A client of our own for a URL, by the package that the project has. It connects at the first step. */
function openClient(url) {
  checkDatabase(url)
  const { name, loaded } = loadClient('redis', Object.keys(OPEN))
  return OPEN[name](loaded, url)
}

module.exports = { openClient, openIoredis, openNodeRedis }
