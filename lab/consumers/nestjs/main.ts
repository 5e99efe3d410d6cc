// An application with the controller of docs/data/input.md, which asks itself and prints what it answers.

import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Customers } from './customers.js'

@Module({ controllers: [Customers] })
class App {}

const app = await NestFactory.create(App, { logger: false })
await app.listen(0, '127.0.0.1')
for (const id of ['7529332683575394305', '12x', '18446744073709551616']) {
  const response = await fetch(`${await app.getUrl()}/customers/${id}`)
  console.log(response.status, await response.text())
}
await app.close()
