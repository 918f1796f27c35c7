import { existsSync, readFileSync } from 'node:fs'
import { findingAdvice } from '@sixtables/engine'
import { expect, it } from 'vitest'
import { labs } from '../src/labs/catalogue.ts'
import { settingNames } from '../src/settings.ts'

it('every lab has its tests', () => {
  const tests = labs.map(({ name }) => new URL(`faults/${name}.test.ts`, import.meta.url))
  expect(tests.filter((file) => !existsSync(file) || !readFileSync(file, 'utf8').includes('faultsOf('))).toEqual([])
})

it('every setting is read by a lab', () => {
  const unread = settingNames.filter((name) => labs.every((lab) => lab.settings[name] === undefined))
  expect(unread).toEqual([])
})

it('the list of labs names each with its page', () => {
  const list = readFileSync(new URL('../../../docs/labs/README.md', import.meta.url), 'utf8')
  for (const { name } of labs) expect(list).toContain(`[${name}](${name}.md)`)
})

it("README's excerpt stands on the lab's page", () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const page = readFileSync(new URL('../../../docs/labs/sequential-keys.md', import.meta.url), 'utf8').split('\n')
  const excerpt = /sixtables-lab run sequential-keys[\s\S]*?```text\n([\s\S]*?)```/.exec(readme)?.[1]?.split('\n') ?? []
  expect(excerpt.length).toBeGreaterThan(5)
  expect(excerpt.filter((line) => line !== '' && !page.includes(line))).toEqual([])
})

it("every lab that the engine's findings point to is there", () => {
  const names = labs.map(({ name }) => name)
  expect(Object.values(findingAdvice).filter(({ lab }) => !names.includes(lab))).toEqual([])
})
