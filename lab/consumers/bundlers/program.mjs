import { ways } from './ids.mjs'

const [way] = process.argv.slice(2)

async function main() {
  console.log(JSON.stringify(await ways[way](process.env.REDIS_URL)))
}

main()
