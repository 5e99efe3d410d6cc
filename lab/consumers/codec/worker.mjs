import { answer } from './program.mjs'

export default {
  async fetch() {
    return new Response(await answer())
  },
}
