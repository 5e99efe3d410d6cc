'use strict'

// The store of a PostgreSQL server: the steps of ./database.js over the records of ./postgres/records.js. Nothing is
// decided here.

const { DatabaseStore } = require('./database')
const { postgresClient } = require('./postgres/client')
const { PostgresRecords } = require('./postgres/records')
const { openClient } = require('./postgres/url')

/** A store on the user's own client: a Pool or Client of pg, or the sql function of postgres.js. */
const postgresStore = (client) => new DatabaseStore(new PostgresRecords(postgresClient(client)))

/** A store with our own client, which `close()` ends. */
const openPostgres = (url) => new DatabaseStore(new PostgresRecords(openClient(url)))

module.exports = { postgresStore, openPostgres }
