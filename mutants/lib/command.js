'use strict'

// Small changes to the command line, each of which a test must notice. See mutants/index.js.

const slot = 'bin/parts/slot.js'

module.exports = [
  {
    name: '`new` never takes a slot',
    file: 'bin/commands/new.js',
    from: "process.env[name] !== undefined) ? 'given' : 'slot'",
    to: "process.env[name] !== undefined) ? 'given' : 'given'",
    tests: ['command/new-command'],
  },
  {
    name: 'Ctrl-C leaves the slot taken',
    file: slot,
    from: 'await untilStopped(work(flake))',
    to: 'await work(flake)',
    tests: ['command/new-command'],
  },
  {
    name: 'a slot is not given back',
    file: slot,
    from: '    await flake.close()\n',
    to: '',
    tests: ['command/new-command'],
  },
  {
    name: 'the default group with another number of slots is another group',
    file: slot,
    from: 'text === fingerprint && options.slots === undefined ?',
    to: 'false ?',
    tests: ['command/new-command'],
  },
  {
    name: 'any layout makes the default group',
    file: slot,
    from: "if (isUsual || existsSync(store.folderOf('default'))) {",
    to: 'if (true) {',
    tests: ['command/new-command'],
  },
  {
    name: 'a container is not mentioned',
    file: slot,
    from: 'if (signOfContainer() !== undefined) sayWhereFrom(flake, store)',
    to: '',
    tests: ['command/new-command'],
  },
  {
    name: 'a reader who has seen enough is a failure',
    file: 'bin/parts/output.js',
    from: "error.code === 'EPIPE'",
    to: "error.code === 'NEVER'",
    tests: ['command/cli'],
  },
  {
    name: 'a value out of its bounds is a failure, not a wrong command line',
    file: 'bin/parts/faults.js',
    from: "  if (code === 'ERR_FLAKE_OPTION') return USAGE\n",
    to: '',
    tests: ['command/cli'],
  },
  {
    name: 'a misspelt group looks like an empty one',
    file: 'bin/commands/slots.js',
    from: '  if (!(await hasGroup(store, group))) throw await noGroup(store, group)\n',
    to: '',
    tests: ['command/groups-command'],
  },
]
