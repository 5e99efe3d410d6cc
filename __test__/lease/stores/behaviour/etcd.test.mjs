// All promises on etcd: they are in the files beside this one, and what is etcd's own in ../etcd-*.test.mjs.

import { ETCD } from '../databases/etcd.mjs'
import { allPromises } from './promises.mjs'

allPromises(ETCD)
