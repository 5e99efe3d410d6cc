'use strict'
// @ts-check

// The MySQL and MariaDB store, over the user's own client or over our own for a URL. It must never decide anything: the
// rules are in the core, database.js carries them out, and the files under mysql/ only read and swap records.

const { DatabaseStore } = require('./database.js')
const { mysqlClient } = require('./mysql/client.js')
const { MysqlRecords } = require('./mysql/records.js')
const { openClient } = require('./mysql/url.js')

/**
 * A store on the user's own client: a pool or connection of mysql2 or mariadb.
 * @param {unknown} client
 */
const mysqlStore = (client) => new DatabaseStore(new MysqlRecords(mysqlClient(client)))

/**
 * A store with our own client, which `close()` ends.
 * @param {string} url
 */
const openMysql = (url) => new DatabaseStore(new MysqlRecords(openClient(url)), url)

module.exports = { mysqlStore, openMysql }
