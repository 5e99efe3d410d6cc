// The IDs of a small project, which any package manager may have installed. With an address, flakeforge finds a client
// package that is a dependency of the project but not of flakeforge.

import { FlakeId } from 'flakeforge'

const [url] = process.argv.slice(2)
const flake = url === undefined ? new FlakeId({ worker: 1 }) : await FlakeId.join(url, { group: 'orders' })
const ids = Array.from(flake.takeBigInts(3), String)
if (url !== undefined) await flake.close()
console.log(JSON.stringify(ids))
