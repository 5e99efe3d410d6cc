'use strict'

// Writes docs/map.md from the code, for contributors. The site's build runs it.

const { writeFileSync } = require('node:fs')
const path = require('node:path')
const { page } = require('./page.js')

const FILE = path.join(__dirname, '..', '..', 'docs', 'map.md')

/** Writes the page. Rejects if a file has no purpose in its head. */
module.exports.writeMap = async () => writeFileSync(FILE, await page())
