// What the program needs of the other files, so that it can load them at once.

export * as commands from './commands.ts'
export { readArguments, wantsHelp } from './parts/arguments.ts'
export { helpOf, overviewOf } from './parts/help.ts'
export { print } from './parts/output.ts'
