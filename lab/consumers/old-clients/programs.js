// The calls of a project with its client package: `node programs.js NAME ADDRESS` prints the result of each try as
// [name of the try, code, message].

const { join } = require('flakeforge')
const { postgresStore, redisStore } = require('flakeforge/lease')

/** Clients as users make them, but never connected. */
const CLIENTS = {
  redis: { client: (redis) => redisStore(quiet(redis.createClient(1, '127.0.0.1'))) },
  ioredis: { client: (Redis) => redisStore(quiet(new Redis({ lazyConnect: true }))) },
  pg: {
    pool: ({ Pool }) => postgresStore(new Pool()),
    client: ({ Client }) => postgresStore(new Client()),
  },
  postgres: { sql: (postgres) => postgresStore(postgres('postgres://127.0.0.1:1/none')) },
}

/** Nothing listens at this address. */
const quiet = (client) => client.on('error', () => {})

async function outcome(name, call) {
  try {
    await call()
    return [name, 'taken', '']
  } catch ({ code, message }) {
    return [name, code, message]
  }
}

async function main(name, address) {
  const made = require(name)
  const outcomes = []
  for (const [kind, give] of Object.entries(CLIENTS[name])) outcomes.push(await outcome(kind, () => give(made)))
  outcomes.push(await outcome('address', () => join(address, { waitMs: 0 })))
  console.log(JSON.stringify(outcomes))
  process.exit() // a client may keep trying to connect
}

main(...process.argv.slice(2))
