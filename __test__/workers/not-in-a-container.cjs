'use strict'

// Preloaded (`--require`) where a test wants the default folder: machines that run tests are often containers, in which
// join() refuses it. This hides all signs by which lib/stores/container.ts recognises one.

require('./no-marks-of-a-container.cjs')

const VARIABLES = ['container', 'KUBERNETES_SERVICE_HOST', 'AWS_LAMBDA_FUNCTION_NAME', 'K_SERVICE', 'CLOUD_RUN_JOB']
for (const name of [...VARIABLES, 'FUNCTIONS_WORKER_RUNTIME', 'VERCEL']) delete process.env[name]
