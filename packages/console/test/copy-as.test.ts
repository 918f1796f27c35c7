import { execFileSync } from 'node:child_process'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copiedAs, shellWord, stablePart } from '../src/model/copy-as.ts'
import { jsonText } from '../src/model/json-text.ts'

/** Texts that mean something to a shell, to a template, or to a reader of directions. */
const wicked = fc.oneof(
  fc.constantFrom(
    "'",
    '"',
    '`',
    '$(touch x)',
    `$\{x}`,
    '\\',
    "'''",
    'JSON',
    '\nJSON\n',
    '\u202e',
    '\0',
    '\ud800',
    '😀',
    '!!',
    '%s',
  ),
  fc.string({ unit: 'binary' }),
)
const texts = fc.array(wicked, { maxLength: 6 }).map((parts) => parts.join(''))

test('copy-as/CA1: every text is one word of a shell', () => {
  const words = fc
    .sample(texts, { numRuns: 300, seed: 7 })
    .map((text) => Buffer.from(text.replaceAll('\0', '')).toString())
  const script = words.map((word) => `printf '%s\\0' ${shellWord(word)}`).join('\n')
  const said = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
  expect(said.split('\0').slice(0, -1)).toEqual(words)
})

const call = (text: string) => ({
  origin: 'http://127.0.0.1:8081',
  project: 'demo',
  method: 'lookup',
  request: { keys: [{ path: [{ kind: text, name: text }] }], [text]: [-0, 1.5, null, true] },
})

test('copy-as/CA1: the body of curl is the here-document, literally', () => {
  const bodies = fc.sample(texts, { numRuns: 60, seed: 8 }).map((text) => call(text))
  const script = bodies.map((one) => copiedAs('curl', one).replace(/^curl [^\n]*<</, 'cat <<')).join("printf '\\0'\n")
  const said = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0')
  expect(said.map((body) => JSON.parse(body))).toEqual(bodies.map(({ request }) => JSON.parse(jsonText(request))))
})

test('copy-as/CA1: the body of Node is its template, literally', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const code = copiedAs('Node', call(text))
      const template = /body: (String\.raw`[^`]*`),\n/.exec(code)?.[1] ?? ''
      expect(template).not.toMatch(/\$\{|\p{Cf}/u)
      expect(JSON.parse(String(runInNewContext(template)))).toEqual(JSON.parse(jsonText(call(text).request)))
    }),
  )
})

test('a test expects what does not differ each time, and properties keep their names', () => {
  const answer = {
    found: [{ entity: { properties: { version: { stringValue: 'x' } } }, version: '17', updateTime: 'now' }],
    readTime: 'now',
  }
  expect(stablePart(answer)).toEqual({ found: [{ entity: { properties: { version: { stringValue: 'x' } } } }] })
  const code = copiedAs('test', { ...call('a'), response: answer })
  expect(code).toContain('test("lookup answers as before"')
  expect(code).not.toContain('readTime')
})
