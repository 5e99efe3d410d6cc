'use strict'
// @ts-check

// What the server writes to stderr: warnings, and of requests the method, the route's pattern, the status and the time. It
// must never write anything else of a request: no path, address, header or body.

/** @param {string} line */
const write = (line) => void process.stderr.write(`${line}\n`)

class Log {
  #least

  /** @param {string} what 'none', 'errors' or 'requests' */
  constructor(what) {
    this.#least = { none: 1000, errors: 500, requests: 0 }[what] ?? 0
  }

  /** @param {string} text */
  warn(text) {
    write(`flakeforge-server: ${text}`)
  }

  /**
   * An error of ours that nobody expected.
   * @param {Error} error
   */
  failure(error) {
    this.warn(`this should never happen, please report it: ${error.stack}`)
  }

  /**
   * An answer was sent.
   * @param {string} method
   * @param {string} route
   * @param {number} status
   * @param {number} ms
   */
  answered(method, route, status, ms) {
    // 503 is an answer that a full or starting server gives all the time.
    if (status < this.#least || (status === 503 && this.#least > 0)) return
    write(`${new Date().toISOString()} ${method} ${route} ${status} ${ms.toFixed(1)} ms`)
  }
}

exports.Log = Log
