#!/usr/bin/env node
'use strict'
// @ts-check

// The program: `npx flakeforge-server`. It must never print more than one line to stdout.

const { main } = require('../lib/main.js')

main(process.argv.slice(2), process.env)
