// A multiplicative hash in front of the number.
import { keyed } from './right-reversed.mjs'

const hashOf = (number) => (Math.imul(number, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')

export const { addCustomer, findCustomer } = keyed((number) => `${hashOf(number)}-${number}`)
