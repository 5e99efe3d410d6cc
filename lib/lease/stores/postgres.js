'use strict'
// @ts-check

// The store of a PostgreSQL server: the steps of ./database.js over the records of ./postgres/records.js. Nothing is
// decided here.

const { DatabaseStore } = require('./database.js')
const { postgresClient } = require('./postgres/client.js')
const { PostgresRecords } = require('./postgres/records.js')
const { openClient } = require('./postgres/url.js')

/**
 * A store on the user's own client: a Pool or Client of pg, or the sql function of postgres.js.
 * @param {unknown} client
 */
const postgresStore = (client) => new DatabaseStore(new PostgresRecords(postgresClient(client)))

/**
 * A store with our own client, which `close()` ends.
 * @param {string} url
 */
const openPostgres = (url) => new DatabaseStore(new PostgresRecords(openClient(url)), url)

module.exports = { postgresStore, openPostgres }
