import { ways } from '../../ids.mjs'

export const dynamic = 'force-dynamic'

export async function GET(request) {
  const way = new URL(request.url).searchParams.get('way')
  return Response.json(await ways[way](process.env.REDIS_URL))
}
