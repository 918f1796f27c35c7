/**
 * Before each test file of jest, for `setupFilesAfterEnv`: the worker's own project, empty. CommonJS, because jest reads such
 * files by require() in a sandbox of its own. The rules are those of src/testing/worker.ts; a test holds them together.
 */
'use strict'

const project = `demo-worker-${process.env.JEST_WORKER_ID || `p${process.pid}`}`
process.env.DATASTORE_PROJECT_ID = project

beforeAll(async () => {
  const address = process.env.DATASTORE_EMULATOR_HOST
  if (!address)
    throw new Error('DATASTORE_EMULATOR_HOST is not set: globalSetup is to be @sixtables/gateway/jest-setup')
  const { request } = require('node:http')
  const status = await new Promise((resolve, reject) => {
    const path = `/reset?project=${encodeURIComponent(project)}`
    const sent = request(`http://${address}${path}`, { method: 'POST', agent: false }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode))
    })
    sent.on('error', reject)
    sent.end()
  })
  if (status !== 200) throw new Error(`the emulator at ${address} did not reset project ${project}: HTTP ${status}`)
})
