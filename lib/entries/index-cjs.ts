// `flakeforge`, for `require`: the class, with everything else that index.ts exports as a property of it.

import * as all from './index.ts'

const { FlakeId } = all
for (const [name, value] of Object.entries(all))
  Object.defineProperty(FlakeId, name, { value, enumerable: true, configurable: true, writable: true })

export default FlakeId
