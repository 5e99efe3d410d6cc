// IDs of one small project, whichever package manager installed it. With an address, flakeforge finds a client package that
// the project names and flakeforge does not.

import { FlakeId } from 'flakeforge'

const [url] = process.argv.slice(2)
const flake = url === undefined ? new FlakeId({ worker: 1 }) : await FlakeId.join(url, { group: 'orders' })
const ids = Array.from(flake.takeBigInts(3), String)
if (url !== undefined) await flake.close()
console.log(JSON.stringify(ids))
