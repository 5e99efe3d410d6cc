'use strict'

// Required before a command: its writes to stdout are never reported as written.

process.stdout.write = () => true
