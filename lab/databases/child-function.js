// One library's default in the database, in a separate process: `node child-function.js LIBRARY DATABASE URL`, with a channel to
// its parent, which gets the results.

import { checkFunction } from './check-function.js'
import { Stored } from './stored.js'

const [library, database, url] = process.argv.slice(2)
const { open } = await import(`./libraries/${library}/function.js`)
const results = await checkFunction({ open, url, database, stored: new Stored(database, url) })
process.send(results, () => process.exit(0)) // a library may leave a pool open
