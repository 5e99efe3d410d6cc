'use strict'

// Small changes to how the addon and the clients are found, each of which a test must notice. See mutants/lib.js.

module.exports = [
  {
    name: 'the installed addon goes before the one of a checkout',
    file: 'lib/addon.js',
    from: 'if (existsSync(built)) return loadFile(built)',
    to: '',
    tests: ['addon'],
  },
  {
    name: 'NAPI_RS_NATIVE_LIBRARY_PATH is not heard',
    file: 'lib/addon.js',
    from: 'if (chosen) return loadFile(chosen)',
    to: '',
    tests: ['addon'],
  },
  {
    name: 'musl is looked for beyond the head of a program',
    file: 'lib/addon.js',
    from: 'Buffer.alloc(4096)',
    to: 'Buffer.alloc(16384)',
    tests: ['addon'],
  },
  {
    name: 'a tool is not told of a platform',
    file: 'lib/packages/traced.js',
    from: "      case 'linux-arm64-musl':\n        return require('flakeforge-linux-arm64-musl')\n",
    to: '',
    tests: ['addon'],
  },
  {
    name: 'a bundle does not look beside itself',
    file: 'lib/packages/bundled.js',
    from: 'files.find((file) => existsSync(file)) ?? ',
    to: '',
    tests: ['addon'],
  },
  {
    name: 'clients are looked for from flakeforge only',
    file: 'lib/packages/search.js',
    from: "return [here, program, join(process.cwd(), 'index.js')].filter(isAbsolute)",
    to: 'return [here].filter(isAbsolute)',
    tests: ['addon'],
  },
  {
    name: 'a bundle does not ask the installed flakeforge for its addon',
    file: 'lib/packages/search.js',
    from: ' ?? resolveFromFlakeforge(start, name)',
    to: '',
    tests: ['addon'],
  },
]
