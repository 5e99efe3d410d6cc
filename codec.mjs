// The ES twin of codec.js.

import codec from './codec.js'

export const { Layout, layouts, format, parse, toBigInt, toSigned, fromSigned, compare } = codec
