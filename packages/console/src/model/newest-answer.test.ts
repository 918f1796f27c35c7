import { expect, test } from 'vitest'
import { NewestAnswer } from './newest-answer.ts'

test('newest-answer/NA1: an answer is shown unless a newer one was, in any order of three', () => {
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]
  for (const order of orders) {
    const answers = new NewestAnswer()
    const asked = [answers.ask(), answers.ask(), answers.ask()]
    const shown = order.filter((one) => asked[one]?.())
    expect(shown, order.join()).toEqual(order.filter((one, i) => order.slice(0, i).every((before) => before < one)))
  }
})

test('newest-answer/NA1: what is known from elsewhere is newer than the answers to come, and older than those asked for after it', () => {
  const answers = new NewestAnswer()
  const before = answers.ask()
  answers.overtake()
  const after = answers.ask()
  expect([before(), after()]).toEqual([false, true])
})
