import { expect, test, vi } from 'vitest'
import { nearest, typingErrors } from './did-you-mean.ts'

test('typing errors are changes, insertions, removals and swaps', () => {
  expect(typingErrors('port', 'port')).toBe(0)
  expect(typingErrors('prot', 'port')).toBe(1)
  expect(typingErrors('por', 'port')).toBe(1)
  expect(typingErrors('ports', 'port')).toBe(1)
  expect(typingErrors('', 'port')).toBe(4)
})

test('the nearest word is given only when it is near', () => {
  const words = ['port', 'host', 'host-port', 'data-dir']
  expect(nearest('prot', words)).toBe('port')
  expect(nearest('datadir', words)).toBe('data-dir')
  expect(nearest('verbose', words)).toBeUndefined()
  expect(nearest('x', words)).toBeUndefined()
  expect(nearest('todo', ['ToDo', 'Todos'])).toBe('ToDo')
  expect(nearest('stat', ['start', 'stats'])).toBe('stats')
  expect(nearest('sta', ['star', 'stat'])).toBe('star')
})

test('a text that is far longer than the words is not compared with them', () => {
  const least = vi.spyOn(Math, 'min')
  expect(nearest('x'.repeat(10_000), ['port', 'host'])).toBeUndefined()
  expect(least).not.toHaveBeenCalled()
})
