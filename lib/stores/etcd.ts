// Stores on etcd 3.4 or newer, over `fetch` and etcd's JSON gateway. etcd/records.ts reads and swaps records, and
// etcd/gateway.ts talks to etcd.

import { refuseMore } from '../base/check.ts'
import { DatabaseStore } from './database.ts'
import { Gateway } from './etcd/gateway.ts'
import { parseUrl, readOptions } from './etcd/options.ts'
import { EtcdRecords } from './etcd/records.ts'
import type { Store } from './store.ts'

const recordsOf = (options: unknown) => new EtcdRecords(new Gateway(readOptions(options)))

/**
 * Slots and counters on etcd 3.4 or newer, over its JSON gateway.
 *
 * For your own certificate authority set `NODE_EXTRA_CA_CERTS=ca.pem`, or pass a `fetch` that trusts it (likewise for a proxy
 * or a client certificate). That `fetch` must respect `signal`, or a request may never end. etcd keeps every old revision by
 * default: run it with `--auto-compaction-retention=1h` or similar, like any etcd with many writes.
 *
 * @param options `endpoints`: one or more, such as `'http://127.0.0.1:2379'`; if one fails, the store tries the next.
 * `username` and `password`: both or none, of a user whose role may read and write the prefix `flakeforge/`; `fetch`: your
 * own, for a proxy or a CA
 * @throws {TypeError} `ERR_FLAKE_OPTION`: an option is missing, of the wrong type, or unknown. No message shows a password.
 */
export function etcdStore(
  options: {
    endpoints: string | readonly string[]
    username?: string | undefined
    password?: string | undefined
    fetch?: typeof fetch | undefined
  },
  ...more: never[]
): Store {
  refuseMore('etcdStore', more, 'only one object of options')
  return new DatabaseStore(recordsOf(options))
}

/** A store for `etcd://[user:password@]host:2379,host:2379[?tls=true]`; `etcds://` means TLS too. */
export const openEtcd = (url: string) => new DatabaseStore(recordsOf(parseUrl(url)), url)
