// All promises on etcd: they are in the files next to this one; promises of etcd alone are in ../etcd-*.test.mjs.

import { ETCD } from '../databases/etcd.mjs'
import { allPromises } from './promises.mjs'

allPromises(ETCD)
