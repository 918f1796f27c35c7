import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { challenges } from './challenges/catalogue.ts'
import { chapters } from './course.ts'
import { labs } from './labs/catalogue.ts'

test('the chapters are those of the table in docs/course', () => {
  const page = readFileSync(new URL('../../../docs/course/README.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| (\d+) \[([^\]]+)\]\(([^)]+)\) \| (\d+) \| (.*) \| (.*) \|$/gm)]
  const table = rows.map(([, number, title, file, minutes, labNames = '', challengeNames = '']) => ({
    number: Number(number),
    title,
    page: file,
    minutes: Number(minutes),
    labs: [...labNames.matchAll(/\[([^\]]+)\]/g)].map(([, name]) => name),
    challenges: [...challengeNames.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  }))
  expect(chapters.map(({ goals: _, ...chapter }) => chapter)).toEqual(table)
  for (const chapter of chapters) {
    const text = readFileSync(new URL(`../../../docs/course/${chapter.page}`, import.meta.url), 'utf8')
    expect(text.replaceAll('\n', ' ')).toContain(`**Goals.** ${chapter.goals} `)
    for (const name of chapter.labs) expect(labs.map((lab) => lab.name)).toContain(name)
    for (const name of chapter.challenges) expect(challenges.map((one) => one.name)).toContain(name)
  }
})
