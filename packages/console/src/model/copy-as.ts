/**
 * A call of the data API as code that makes it again, over HTTP with JSON, with nothing to install: for a shell, for Node, for Python,
 * and as a test.
 *
 * The body stands in each as its JSON text, in the quotes of the language that take everything literally. Characters that would end
 * these quotes, cannot be seen, or turn the direction of text are `\u` escapes of JSON.
 *
 * The three print the server's answer, also an error's.
 *
 * CA1  No text of a call ends its quotes: what runs is the one call.                test/copy-as.test.ts, test/requests.test.ts
 */
import { jsonText } from './json-text.ts'
import { dataPath } from './scope.ts'

interface CopiedCall {
  /** `http://127.0.0.1:8081` */
  readonly origin: string
  readonly project: string
  readonly method: string
  readonly request: unknown
  readonly response?: unknown
}

export const forms = ['curl', 'Node', 'Python', 'test'] as const
export type Form = (typeof forms)[number]

export function copiedAs(form: Form, call: CopiedCall): string {
  return { curl: asCurl, Node: asNode, Python: asPython, test: asTest }[form](call)
}

function urlOf({ origin, project, method }: CopiedCall): string {
  return origin + dataPath(project, method)
}

/** Any text as one word of a POSIX shell. It must have no NUL. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function asCurl(call: CopiedCall): string {
  // In a quoted here-document nothing is expanded, and no line of the body is its end: lines begin with a bracket, a brace or a blank.
  return `curl -sS ${shellWord(urlOf(call))} -H 'Content-Type: application/json' --data-binary @- <<'JSON'\n${safeJson(call.request)}\nJSON\n`
}

function asNode(call: CopiedCall): string {
  return `// Node 18 or newer, as an ES module.
const response = await fetch(${quoted(urlOf(call))}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: ${rawTemplate(call.request)},
})
console.log(await response.text())
`
}

function asPython(call: CopiedCall): string {
  return `import urllib.error
import urllib.request

body = r'''${safeJson(call.request).replaceAll("'", '\\u0027')}'''
request = urllib.request.Request(
    ${quoted(urlOf(call))},
    data=body.encode(),
    headers={"Content-Type": "application/json"},
)
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    answer = error
print(answer.read().decode())
`
}

function asTest(call: CopiedCall): string {
  const { origin, project, method, request, response } = call
  const path = dataPath(project, method)
  const address = origin.replace(/^https?:\/\//, '')
  return `import { expect, test } from 'vitest'

test(${quoted(`${method} answers as before`)}, async () => {
  const server = process.env.DATASTORE_EMULATOR_HOST ?? ${quoted(address)}
  const response = await fetch(\`http://\${server}\` + ${quoted(path)}, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: ${rawTemplate(request)},
  })
  // Without times, versions, cursors and tokens, which differ each time.
  const expected = JSON.parse(${rawTemplate(stablePart(response ?? {}))})
  expect(await response.json()).toMatchObject(expected)
})
`
}

/** A string of JavaScript and of Python. */
function quoted(text: string): string {
  return escaped(JSON.stringify(text))
}

function rawTemplate(value: unknown): string {
  return `String.raw\`${safeJson(value).replaceAll('`', '\\u0060').replaceAll('$', '\\u0024')}\``
}

function safeJson(value: unknown): string {
  return escaped(jsonText(value))
}

/** Control characters and marks of direction: in JSON and in code they can stand in strings alone, where the escape means the same. */
function escaped(json: string): string {
  return json.replace(/[^\P{C}\n]|\p{Zl}|\p{Zp}/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

const passing =
  /^(version|(create|update|read|commit)Time|transaction|cursor|(end|skipped)Cursor|snapshotVersion|executionDuration)$/

/** An answer without what differs each time; properties of entities keep their names. */
export function stablePart(answer: unknown, isProperties = false): unknown {
  if (Array.isArray(answer)) return answer.map((element) => stablePart(element))
  if (answer === null || typeof answer !== 'object') return answer
  return Object.fromEntries(
    Object.entries(answer)
      .filter(([name]) => isProperties || !passing.test(name))
      .map(([name, member]) => [
        name,
        stablePart(member, !isProperties && (name === 'properties' || name === 'aggregateProperties')),
      ]),
  )
}
