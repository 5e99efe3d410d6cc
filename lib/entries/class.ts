// `require('flakeforge')`: the class alone. Every other export of index.ts is a property of it.

export { FlakeId as default } from './index.ts'
