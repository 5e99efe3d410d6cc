// The error if the input as a whole cannot be checked. Its exit status differs from that of findings, as in grep and diff.

import { usageError } from '../parts/faults.ts'

export const unreadable = (why: string) => usageError(`audit cannot check this input: ${why}`)
