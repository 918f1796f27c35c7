/** Jest's `globalTeardown`. */
export { teardown as default } from './jest-setup.ts'
