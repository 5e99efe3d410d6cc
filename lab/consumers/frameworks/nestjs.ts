// Starts the application of docs/data/input.md, sends it requests, and prints the answers. At the end it stops the
// application with a signal, as an orchestrator does.

import 'reflect-metadata'
import { writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { FlakeId, type LeasedFlakeId } from 'flakeforge'

process.env.PORT = '0'
process.env.FLAKEFORGE_STORE = `file:${resolve('ids')}`
const { app } = await import('./app.js')
const url = `${await app.getUrl()}/customers`

async function ask(path: string, body?: string) {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const response = await fetch(url + path, body === undefined ? {} : post)
  writeSync(1, `${response.status} ${await response.text()}\n`)
}

for (const id of ['7529332683575394305', '12x', '18446744073709551616']) await ask(`/${id}`)
await ask('', '{"company":"7529332683575394305","tags":["1","2"]}')
await ask('', '{"company":7529332683575394305,"tags":[]}')
await ask('', '{"company":"1","tags":["1","12x"]}')
await ask('', '{"company":"1","tags":"2"}')
for (const company of ['null', '"0x10"', '{"type":"Buffer","data":[104,125,144,47,0,64,0,1]}'])
  await ask('', `{"company":${company},"tags":[]}`)
app.get<LeasedFlakeId>(FlakeId).once('detached', () => writeSync(1, 'detached\n'))
process.kill(process.pid, 'SIGTERM')
