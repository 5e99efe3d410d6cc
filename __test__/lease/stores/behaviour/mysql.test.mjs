// All promises on mysql: they are in the files beside this one, and what is mysql's own in ../mysql-*.test.mjs.

import { MYSQL } from '../databases/mysql.mjs'
import { allPromises } from './promises.mjs'

allPromises(MYSQL)
