'use strict'

// The adapters as users call them. Each file is loaded when it is first needed: most programs need only one, or none.

const fileStore = (directory) => require('../../files/file-store.js').fileStore(directory)
const redisStore = (client) => require('./redis.js').redisStore(client)
const postgresStore = (pool) => require('./postgres.js').postgresStore(pool)
const mysqlStore = (client) => require('./mysql.js').mysqlStore(client)
const etcdStore = (options) => require('./etcd.js').etcdStore(options)
const recordStore = (store) => require('./record-store.js').recordStore(store)

module.exports = { fileStore, redisStore, postgresStore, mysqlStore, etcdStore, recordStore }
