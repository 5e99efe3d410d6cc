'use strict'
// @ts-check

// Which names and addresses mean this machine and nobody else's.

/** @param {string} host without a port, and without the brackets of an address */
const isLoopback = (host) => /^(?:localhost|.+\.localhost|::1|127(?:\.\d{1,3}){3})$/i.test(host)

exports.isLoopback = isLoopback
