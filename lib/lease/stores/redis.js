'use strict'
// @ts-check

// Slots, windows and counters on Redis or Valkey, over the user's own client or ours. It must never decide anything:
// database.js carries out the rules, redis/records.js reads and swaps, and redis/client.js deals with clients.

const { DatabaseStore } = require('./database.js')
const { redisClient } = require('./redis/client.js')
const { RedisRecords } = require('./redis/records.js')
const { openClient } = require('./redis/url.js')

/**
 * A store on the user's own client of ioredis or node-redis: a single server, Sentinel, a cluster or a pool.
 * @param {unknown} client
 */
const redisStore = (client) => new DatabaseStore(new RedisRecords(redisClient(client)))

/**
 * A store with our own client, which `close()` ends.
 * @param {string} url
 */
const openRedis = (url) => new DatabaseStore(new RedisRecords(openClient(url)), url)

module.exports = { redisStore, openRedis }
