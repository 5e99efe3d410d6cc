// A store on DynamoDB: `npx flakeforge-check-store ./store.mjs` checks it. README.md says what the table needs.

import {
  DescribeTableCommand,
  DynamoDBClient,
  QueryCommand,
  TransactGetItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'

const TableName = 'flakeforge'
const SLOTS = 64 // per item, so that 1,024 slots and the other records of a read fit into fewer than 100 items
const LIMIT_MS = 5000
const LOOK_MS = 10_000
const REFUSED = new Set(['ConditionalCheckFailedException', 'TransactionConflictException'])
const CONFLICT = new Set(['None', 'TransactionConflict'])

/** Whether the server refused a write, or a read that met a concurrent write. Neither had any effect. */
const isRefused = ({ name, CancellationReasons }) =>
  REFUSED.has(name) || CancellationReasons?.every(({ Code }) => CONFLICT.has(Code)) === true

/** The item of a record: one for `group`, one for `counter`, and one for every 64 slots. */
const pageOf = (name) => (name.startsWith('slot') ? `slots${Math.floor(Number(name.slice(4)) / SLOTS)}` : name)

/** Adds the server's clock, from the Date header of each response, to the command's output. */
const withDate = (next) => async (args) => {
  const result = await next(args)
  result.output.serverDate = result.response.headers.date
  return result
}

export default async function open() {
  const requestHandler = { connectionTimeout: 1000, requestTimeout: LIMIT_MS / 2, throwOnRequestTimeout: true }
  const client = new DynamoDBClient({ maxAttempts: 2, requestHandler })
  client.middlewareStack.add(withDate, { step: 'deserialize', priority: 'high', name: 'withDate' })
  let table // { id, until }

  /** The id of the table: it changes when the table is deleted and recreated, or restored from a backup. */
  async function tableId() {
    if (table === undefined || performance.now() > table.until) {
      const { Table } = await client.send(new DescribeTableCommand({ TableName }))
      table = { id: Table.TableId, until: performance.now() + LOOK_MS }
    }
    return table.id
  }

  // The id is part of each key. So records of another table, which a backup may restore, are never visible here, and a late
  // swap from before the restore cannot change this table's records.
  const keyOf = (id, group, page) => ({ pk: { S: `${id}/${group}` }, page: { S: page } })

  /** Runs one command. After any other error, the table may have been replaced. */
  async function send(command) {
    try {
      return await client.send(command)
    } catch (error) {
      if (!isRefused(error)) table = undefined
      throw error
    }
  }

  /** Items as they were at one moment. Fails, and is retried, if one of them is written at that moment. */
  async function snapshot(keys) {
    const TransactItems = keys.map((Key) => ({ Get: { TableName, Key } }))
    for (const end = performance.now() + LIMIT_MS; ; ) {
      try {
        return await send(new TransactGetItemsCommand({ TransactItems }))
      } catch (error) {
        if (!isRefused(error) || performance.now() > end) throw error
      }
    }
  }

  async function read(group, names) {
    const id = await tableId()
    const pages = [...new Set(names.map(pageOf))]
    const { Responses, serverDate } = await snapshot(pages.map((page) => keyOf(id, group, page)))
    const items = new Map(pages.map((page, i) => [page, Responses[i].Item]))
    return {
      // The header has whole seconds, rounded down. Rounded up, it is never older than the snapshot.
      now: Date.parse(serverDate) + 999,
      identity: { history: id, process: '' },
      values: names.map((name) => items.get(pageOf(name))?.[name]?.S ?? null),
    }
  }

  async function swap(group, name, from, to, identity) {
    const id = await tableId()
    if (identity.history !== id || identity.process !== '') return false
    const values = from === null ? {} : { ':from': { S: from } }
    const command = new UpdateItemCommand({
      TableName,
      Key: keyOf(id, group, pageOf(name)),
      UpdateExpression: 'SET #name = :to',
      ConditionExpression: from === null ? 'attribute_not_exists(#name)' : '#name = :from',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':to': { S: to }, ...values },
    })
    try {
      await send(command)
      return true
    } catch (error) {
      if (isRefused(error)) return false
      throw error
    }
  }

  async function names(group) {
    const found = []
    let ExclusiveStartKey
    do {
      const query = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: `${await tableId()}/${group}` } },
        ExclusiveStartKey,
      }
      const { Items, LastEvaluatedKey } = await send(new QueryCommand(query))
      for (const { pk, page, ...records } of Items) found.push(...Object.keys(records))
      ExclusiveStartKey = LastEvaluatedKey
    } while (ExclusiveStartKey !== undefined)
    return found
  }

  return { read, swap, names, close: async () => client.destroy() }
}
