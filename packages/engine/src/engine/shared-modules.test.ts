import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Files that are loaded with one of them, types and dynamic imports left out. */
function loadedWith(first: string): ReadonlySet<string> {
  const found = new Set<string>([first])
  for (const file of found) {
    const text = readFileSync(new URL(file), 'utf8')
    for (const [, path = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gm)) {
      found.add(new URL(path, file).href)
    }
  }
  return found
}

test('an engine loads the code of shared stores only to open one', () => {
  const isShared = (file: string): boolean => file.includes('/src/shared/')
  const engine = [...loadedWith(new URL('engine.ts', import.meta.url).href)]
  expect(engine.length).toBeGreaterThan(100)
  expect(engine.filter(isShared)).toEqual([])
  const modules = [...loadedWith(new URL('shared-modules.ts', import.meta.url).href)]
  expect(modules.filter(isShared).length).toBeGreaterThan(10)
})
