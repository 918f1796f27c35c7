import { expect, test } from 'vitest'
import { challenges } from './challenges/catalogue.ts'
import { chapters } from './gen/chapters.ts'
import { labs } from './labs/catalogue.ts'

test('each chapter of docs/course names labs and challenges that exist', () => {
  expect(chapters.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  for (const chapter of chapters) {
    for (const name of chapter.labs) expect(labs.map((lab) => lab.name)).toContain(name)
    for (const name of chapter.challenges) expect(challenges.map((one) => one.name)).toContain(name)
  }
})
