// The validator of docs/data/input.md inside ArkType, tRPC and Hono, and its `is` and isId in zod and in valibot, as the page says.

import { sValidator } from '@hono/standard-validator'
import { initTRPC } from '@trpc/server'
import { type } from 'arktype'
import { isId, toBigInt } from 'flakeforge'
import { Hono } from 'hono'
import * as v from 'valibot'
import * as z from 'zod'
import { FlakeId } from './standard-schema.mjs'

const [good, bad] = [{ id: '7529332683575394305' }, { id: '12x' }]

const arktype = type({ id: FlakeId })
console.log('arktype', String(arktype(good).id))
console.log('arktype', String(arktype(bad)))

const { procedure, router } = initTRPC.create()
const caller = router({ find: procedure.input(FlakeId).query(({ input }) => input) }).createCaller({})
console.log('trpc', await caller.find(good.id))
console.log('trpc', await caller.find(bad.id).catch(({ code }) => code))

const app = new Hono().post('/', sValidator('json', FlakeId), (context) => context.text(context.req.valid('json')))
for (const { id } of [good, bad]) {
  const reply = await app.request('/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(id),
  })
  console.log('hono', reply.status, await reply.text())
}

const byZod = (id) => z.custom(FlakeId.is).safeParse(id).success
const byValibot = (id) => v.safeParse(v.custom(FlakeId.is), id).success
console.log('custom', byZod(good.id), byZod(bad.id), byValibot(good.id), byValibot(bad.id))

const zod = z.object({ id: z.string().refine(isId).transform(toBigInt) })
console.log('zod', String(zod.parse(good).id))
console.log('zod', zod.safeParse(bad).success)

const valibot = v.object({ id: v.pipe(v.string(), v.check(isId), v.transform(toBigInt)) })
console.log('valibot', String(v.parse(valibot, good).id))
console.log('valibot', v.safeParse(valibot, bad).success)
