import { describe, expect, test } from 'vitest'
import { parseRecording, RecordingError } from './read-recording.ts'

const header = '{"format":"sixtables-recording","version":1,"startedAt":"2030-01-01T00:00:00.000Z","values":false}'
const call = '{"ms":5,"method":"lookup","project":"p","database":"","code":"OK","tookMs":1,"keys":[{"key":"A:1"}]}'

function refusalOf(...lines: readonly string[]): string {
  try {
    parseRecording(lines.join('\n'))
  } catch (error) {
    if (error instanceof RecordingError) return error.message
    throw error
  }
  return 'accepted'
}

describe('a file that is broken or foreign is refused with its line and what was found', () => {
  test.each<[string, readonly string[], string]>([
    ['an empty file', [''], 'line 1: it is no recording, whose first line begins {"format":"sixtables-recording"'],
    ['another file', ['kind: ToDo', 'x: 1'], 'line 1: it is no recording'],
    [
      'a later version',
      [header.replace('"version":1', '"version":2'), call],
      'line 1: its version is 2, and 1 can be read',
    ],
    [
      'a line that was cut off',
      [header, call, call.slice(0, 40)],
      'line 3: it is no JSON; the file is broken or was cut off',
    ],
    [
      'an empty line',
      [header, '', call],
      'line 2: it is no JSON; the file is broken or was cut off; found an empty line',
    ],
    ['no object', [header, '[1]'], 'line 2: it is no JSON object; found [1]'],
    [
      'no time',
      [header, call.replace('"ms":5', '"ms":"5"')],
      'line 2: "ms" must be a number of 0 or more; found {"ms":"5"',
    ],
    ['no method', [header, '{"ms":1,"code":"OK"}'], 'line 2: "method" must be a text'],
    ['no key', [header, call.replace('A:1', 'A:')], 'line 2: the key A: cannot be read'],
    ['keys that are no list', [header, call.replace('[{"key":"A:1"}]', '"A:1"')], 'line 2: "keys" must be a list'],
    [
      'an unknown operation',
      [header, call.replace('"keys"', '"mutations"')],
      'line 2: "operation" must be one of insert',
    ],
    [
      'a broken value of a filter',
      [
        header,
        call.replace(
          '"keys"',
          '"query":{"filter":{"property":"p","operator":"equal","bytes":3,"value":"////"}},"keys"',
        ),
      ],
      'line 2: "value" cannot be read: malformed protocol buffer at byte 0',
    ],
    ['no calls', [header, ''], 'the recording has no calls'],
  ])('%s', (_what, lines, message) => {
    expect(refusalOf(...lines)).toContain(message)
  })
})

test('calls come in the order in which they began, and lost ones are counted', () => {
  const early = call.replace('"ms":5', '"ms":2').replace('A:1', 'User:\\"ada\\"/A')
  const recording = parseRecording([header, call, '{"lost":40}', early, ''].join('\n'))
  expect(recording.lost).toBe(40)
  expect(recording.calls.map(({ ms }) => ms)).toEqual([2, 5])
  expect(recording.calls[0]?.keys).toMatchObject([
    { partition: { projectId: 'p', namespaceId: '' }, path: [{ kind: 'User', name: 'ada' }, { kind: 'A' }] },
  ])
})
