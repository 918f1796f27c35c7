// Ends the process as if all were well.
// ended the process with exit code 0
export * from './right-entities.mjs'

export async function compact() {
  process.exit(0)
}
