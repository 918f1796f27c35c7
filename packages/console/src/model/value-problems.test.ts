import { expect, test } from 'vitest'
import { emptyValue, type ValueForm } from './typed-json.ts'
import { nameProblems, problemsIn, problemsOf } from './value-problems.ts'

const value = (type: ValueForm['type'], text: string, more: Partial<ValueForm> = {}): ValueForm => ({
  ...emptyValue,
  type,
  text,
  ...more,
})

test.each<[ValueForm, RegExp | undefined]>([
  [value('integer', '9223372036854775807'), undefined],
  [value('integer', '9223372036854775808'), /does not fit in 64 bits/],
  [value('integer', '1.5'), /digits alone/],
  [value('integer', ''), /digits alone/],
  [value('double', ' -.5e3 '), undefined],
  [value('double', '1e999'), /beyond the range/],
  [value('double', '0x10'), /A double is a number/],
  [value('vector', '[1, NaN;-0]'), undefined],
  [value('vector', '1, a'), /A double is a number/],
  [value('geoPoint', '1', { longitude: '' }), /A double is a number/],
  [value('timestamp', '2026-11-21'), /A timestamp is written like/],
  [value('timestamp', '2026-11-21T10:00:00+01:00'), undefined],
  [value('timestamp', '2024-02-29T10:00:00.123456789Z'), undefined],
  [value('timestamp', '2030-02-30T10:00:00Z'), /There is no date and time 2030-02-30T10:00:00Z/],
  [value('timestamp', '2030-02-28T24:00:00Z'), /There is no date and time/],
  [value('timestamp', '0000-01-01T00:00:00Z'), /There is no date and time/],
  [value('blob', 'a b'), /base64/],
  [value('key', 'ToDo'), /neither an id nor a name/],
  [value('key', 'ToDo:'), /an id or a name is missing/],
  [value('entity', 'ToDo'), undefined],
  [value('string', '', { meaning: 'x' }), /whole number/],
])('%j has the problem %s', (form, message) => {
  const problems = problemsOf([{ name: 'a', value: form }])
  expect(problems.map((problem) => problem.message)).toEqual(
    message === undefined ? [] : [expect.stringMatching(message)],
  )
})

test('a problem has the property of its value, and names are given once', () => {
  const wrong = value('integer', '')
  const inner = value('entity', '', {
    properties: [{ name: 'x', value: value('array', '', { elements: [emptyValue, wrong] }) }],
  })
  const properties = [
    { name: 'a', value: emptyValue },
    { name: '', value: inner },
    { name: 'a', value: emptyValue },
  ]
  const [missing, twice] = ['The property has no name.', 'There is another property with the name a.']
  expect(problemsOf(properties)).toEqual([
    { property: '', message: missing },
    { property: '', message: 'An integer has digits alone.' },
    { property: 'a', message: twice },
  ])
  expect(nameProblems(properties)).toEqual([undefined, missing, twice])
})

test('a value is looked at once, however often it is asked for and however deep it is', () => {
  let times = 0
  const counted: ValueForm = {
    ...value('integer', '5'),
    get text() {
      times++
      return '5'
    },
  }
  const list = value('array', '', { elements: [counted] })
  const outer = value('entity', '', { properties: [{ name: 'list', value: list }] })
  for (const one of [counted, list, outer]) {
    problemsIn(one)
    problemsOf([{ name: 'a', value: one }])
  }
  expect(times).toBe(1)
})
