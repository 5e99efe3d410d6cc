'use strict'

// Writes docs/map.md from the code, for those who change it. The site's build runs it.

const { writeFileSync } = require('node:fs')
const path = require('node:path')
const { page } = require('./page.js')

const FILE = path.join(__dirname, '..', '..', 'docs', 'map.md')

/** Writes the page. Rejects where a file does not say what it is for. */
module.exports.writeMap = async () => writeFileSync(FILE, await page())
