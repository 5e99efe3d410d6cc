// The same as load-once.js for ES modules: `node load-once.mjs empty`, `node load-once.mjs first URL`.

const [kind, url] = process.argv.slice(2)
const cpu = process.cpuUsage()
const start = performance.now()
if (kind === 'first') {
  const { default: FlakeId } = await import(url)
  new FlakeId().next()
}
const ms = performance.now() - start
const { user, system } = process.cpuUsage(cpu)
console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1000, mib: process.memoryUsage.rss() / 2 ** 20 }))
