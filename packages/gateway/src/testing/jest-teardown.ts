/** Global tear-down of jest, for `globalTeardown`. */
export { teardown as default } from './jest-setup.ts'
