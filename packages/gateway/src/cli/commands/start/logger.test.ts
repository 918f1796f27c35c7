import { expect, test } from 'vitest'
import { lineLogger } from './start.ts'

test('a log line has time, level and message; lower levels are dropped', () => {
  const lines: string[] = []
  const logger = lineLogger(
    'warn',
    (line) => lines.push(line),
    () => new Date(Date.UTC(2030, 0, 31, 12)),
  )
  logger.warn('first')
  logger.error('second\nline')
  logger.info('never')
  logger.debug('never')
  expect(lines).toEqual(['2030-01-31T12:00:00.000Z warn  first', '2030-01-31T12:00:00.000Z error second\n    line'])
})
