// The validator of docs/data/input.md inside ArkType, and isId in zod and in valibot, as the page says.

import { type } from 'arktype'
import { isId, toBigInt } from 'flakeforge'
import * as v from 'valibot'
import * as z from 'zod'
import { FlakeId } from './standard-schema.mjs'

const [good, bad] = [{ id: '7529332683575394305' }, { id: '12x' }]

const arktype = type({ id: FlakeId })
console.log('arktype', String(arktype(good).id))
console.log('arktype', String(arktype(bad)))

const zod = z.object({ id: z.string().refine(isId).transform(toBigInt) })
console.log('zod', String(zod.parse(good).id))
console.log('zod', zod.safeParse(bad).success)

const valibot = v.object({ id: v.pipe(v.string(), v.check(isId), v.transform(toBigInt)) })
console.log('valibot', String(v.parse(valibot, good).id))
console.log('valibot', v.safeParse(valibot, bad).success)
