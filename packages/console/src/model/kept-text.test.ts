import { afterEach, expect, test, vi } from 'vitest'
import { keepText, keptText } from './kept-text.ts'

afterEach(() => vi.unstubAllGlobals())

test('a text that the browser refuses to keep is the newest one until it keeps another', () => {
  const stored = new Map<string, string>()
  let isFull = false
  const setItem = (name: string, text: string): void => {
    if (isFull) throw new DOMException('full', 'QuotaExceededError')
    stored.set(name, text)
  }
  vi.stubGlobal('localStorage', { getItem: (name: string) => stored.get(name) ?? null, setItem })
  keepText('a', 'old')
  isFull = true
  keepText('a', 'new')
  expect(keptText('a')).toBe('new')
  isFull = false
  keepText('a', 'newest')
  // Another tab.
  stored.set('a', 'theirs')
  expect([keptText('a'), keptText('b')]).toEqual(['theirs', undefined])
})
