'use strict'
// @ts-check

// Stores on etcd 3.4 or later, over `fetch` and etcd's JSON gateway.
// It must never read or write a record: etcd/records.js does, and etcd/gateway.js talks to etcd.

const { DatabaseStore } = require('./database.js')
const { Gateway } = require('./etcd/gateway.js')
const { parseUrl, readOptions } = require('./etcd/options.js')
const { EtcdRecords } = require('./etcd/records.js')

/** @param {unknown} options */
const recordsOf = (options) => new EtcdRecords(new Gateway(readOptions(options)))

/**
 * A store on etcd. `endpoints`: one URL or several of the members' client ports, `https://` for TLS; if one fails, the
 * next one is asked. `username`, `password`: if authentication is on, a user whose role may read and write the prefix
 * `flakeforge/`.
 *
 * For your own certificate authority set `NODE_EXTRA_CA_CERTS=ca.pem`, or pass a `fetch` that knows it (likewise for a
 * proxy or a client certificate). That `fetch` must obey `signal`, or a request may never end. etcd keeps every old
 * revision by default: run it with `--auto-compaction-retention=1h` or similar, like any etcd with many writes.
 * @param {unknown} options
 */
const etcdStore = (options) => new DatabaseStore(recordsOf(options))

/**
 * A store for `etcd://[user:password@]host:2379,host:2379[?tls=true]`; `etcds://` means TLS too.
 * @param {string} url
 */
const openEtcd = (url) => new DatabaseStore(recordsOf(parseUrl(url)), url)

module.exports = { etcdStore, openEtcd }
