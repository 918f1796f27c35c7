// An id of the number's bits, the lowest first.
import { keyed } from './right-reversed.mjs'

function keyOf(number) {
  let id = 0
  for (let bit = 0; bit < 40; bit++) id = id * 2 + (Math.floor(number / 2 ** bit) % 2)
  return id + 1
}

export const { addCustomer, findCustomer } = keyed(keyOf)
