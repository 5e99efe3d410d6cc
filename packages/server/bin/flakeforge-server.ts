#!/usr/bin/env node
// The program `npx flakeforge-server`.

import { main } from '../lib/main.ts'

main(process.argv.slice(2), process.env)
