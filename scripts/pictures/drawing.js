'use strict'

// Shared by all pictures: colours, words, boxes, and the frame that names the picture.

const THEMES = {
  light: {
    text: '#1f2328',
    faint: '#59636e',
    fields: ['#b6d7ff', '#c9e8c4', '#f8e1a1', '#f5c6cf'],
    bars: { ours: '#0969da', others: '#8c959f' },
    line: '#59636e',
  },
  dark: {
    text: '#f0f6fc',
    faint: '#9198a1',
    fields: ['#1f4b7d', '#23572b', '#6b5310', '#7d2b3c'],
    bars: { ours: '#4493f8', others: '#656c76' },
    line: '#9198a1',
  },
}
const FONT = 'font-family="ui-sans-serif, system-ui, sans-serif"'
const MONO = 'font-family="ui-monospace, monospace"'

const text = (x, y, words, { fill, size = 12, anchor = 'start', font = FONT }) =>
  `<text x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}" fill="${fill}" ${font}>${words}</text>`
const box = (x, y, width, height, rest) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="3" ${rest}/>`

/** `title` is the text for screen readers. */
const picture = (width, height, title, parts) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${title}">
<title>${title}</title>
${parts.join('\n')}
</svg>
`

module.exports = { MONO, THEMES, box, picture, text }
