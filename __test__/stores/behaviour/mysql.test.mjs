// All promises on mysql: they are in the files next to this one; promises of mysql alone are in ../mysql-*.test.mjs.

import { MYSQL } from '../databases/mysql.mjs'
import { allPromises } from './promises.mjs'

allPromises(MYSQL)
