// Sixty-four shards in turn.
import { keyed } from './right-reversed.mjs'

export const { addCustomer, findCustomer } = keyed((number) => `${String(number % 64).padStart(2, '0')}-${number}`)
