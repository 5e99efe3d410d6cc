#!/usr/bin/env node
// The program `npx flakeforge-check-store`.

import { main } from '../lib/main.ts'

main(process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
