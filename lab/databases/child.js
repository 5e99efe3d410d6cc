// One library on one database in one way, in a separate process: `node child.js LIBRARY DATABASE WAY URL SIGNED`, with
// a channel to its parent, which gets the results.

import { check } from './check.js'
import { checkBson } from './check-bson.js'
import { Stored } from './stored.js'

const [library, database, way, url, signed] = process.argv.slice(2)
const { ways } = await import(`./libraries/${library}/program.js`)
const [open, isSigned] = [ways[way], signed === 'signed']
const results = await (database === 'bson'
  ? checkBson({ open, isSigned })
  : check({ open, url, database, isSigned, stored: new Stored(database, url) }))
process.send(results, () => process.exit(0)) // a library may leave a pool open
