// What runs in the page and in the worker.

import FlakeId, * as main from 'flakeforge'
import * as codec from 'flakeforge/codec'
import { fileStore } from 'flakeforge/lease'
import { RemoteFlakeId } from 'flakeforge/remote'
import { work } from './work.mjs'

const codeOf = async (call) => {
  try {
    await call()
  } catch ({ code, message }) {
    return [code, message.includes('flakeforge/remote')]
  }
}

export async function answer() {
  const bytes = main.layouts.flake.encode({ timestamp: 1 })
  return JSON.stringify(
    {
      work: work({ ...main, ...codec }),
      isSame: main.Layout === codec.Layout && main.RemoteFlakeId === RemoteFlakeId && FlakeId === main.FlakeId,
      bytes: [bytes.constructor.name, bytes.length],
      noAddon: [await codeOf(() => new FlakeId()), await codeOf(() => FlakeId.join()), await codeOf(() => fileStore())],
    },
    main.jsonReplacer,
  )
}
