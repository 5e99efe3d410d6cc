#!/usr/bin/env node
// The program: `npx flakeforge-server`. It must never print more than one line to stdout.

import { main } from '../lib/main.ts'

main(process.argv.slice(2), process.env)
