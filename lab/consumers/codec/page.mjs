import { answer } from './program.mjs'

answer().then(
  (text) => {
    document.body.textContent = text
  },
  (error) => {
    document.body.textContent = error.stack
  },
)
