import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nameFormOf } from './name-form.ts'

const letters = fc.array(fc.constantFrom(...'0123456789abcdefghXYZ-_'), { minLength: 6, maxLength: 6 })
const ofOneLength = fc.array(
  letters.map((one) => one.join('')),
  { minLength: 2, maxLength: 12 },
)

test('name-form/NF1: names of one length come back as they were, and their numbers rise as they do', () => {
  fc.assert(
    fc.property(ofOneLength, (names) => {
      const form = nameFormOf(names)
      if (form === undefined) return
      expect(names.map((name) => form.nameOf(form.numberOf(name)))).toEqual(names)
      const byNumber = names.toSorted((a, b) => (form.numberOf(a) < form.numberOf(b) ? -1 : 1))
      expect(byNumber).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)))
    }),
  )
})

test('name-form/NF1: names of several lengths have the first number that differs', () => {
  const names = ['shard1-order9', 'shard1-order10']
  const form = nameFormOf(names)
  expect(names.map((name) => form?.numberOf(name))).toEqual([9n, 10n])
  expect(form?.nameOf(11n)).toBe('shard1-order11')
  expect(nameFormOf(['a01', 'a1'])).toBeUndefined()
})
