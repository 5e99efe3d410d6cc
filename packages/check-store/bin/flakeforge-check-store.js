#!/usr/bin/env node
'use strict'
// @ts-check

// The program: `npx flakeforge-check-store`.

const { main } = require('../lib/main.js')

main(process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
