// Almost: the names are padded, and rise as before.
// no tablet has more than three times the mean load
import { keyed } from './right-reversed.mjs'

export const { addCustomer, findCustomer } = keyed((number) => String(number).padStart(12, '0'))
