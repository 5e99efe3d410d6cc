import { defineConfig } from 'vitest/config'

const pools = ['threads', 'forks', 'vmThreads', 'vmForks']

export default defineConfig({
  test: { projects: pools.map((pool) => ({ test: { name: pool, pool, include: ['vitest/*.test.mjs'] } })) },
})
