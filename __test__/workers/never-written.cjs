'use strict'

// To be required before a command: what it writes to stdout is never reported as written.

process.stdout.write = () => true
